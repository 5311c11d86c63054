// An agent's list of what it has to do: its to-do tool's input, or the plan of a status event.
import type {JsonObject} from "../api/types";
import {textOf} from "../model/shape";
import {Words} from "./text";

const kMark: Record<string, string> = {completed: "✓", in_progress: "▸"};

export function Steps({steps}: {steps: JsonObject[]}) {
  if (steps.length === 0) return null;
  return (
    <ul class="todos">
      {steps.map((step, index) => (
        <li key={index}><span aria-label={textOf(step, "status")}>{kMark[textOf(step, "status")] ?? "○"}</span> <Words text={textOf(step, "content")} /></li>))}
    </ul>
  );
}
