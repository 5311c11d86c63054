// A tool call and its result as one card that shows what a person wants of that tool.
import {useState} from "preact/hooks";
import type {JsonObject, TaskEvent} from "../api/types";
import {duration, middle} from "../model/format";
import {textOf} from "../model/fold";
import {detailOf} from "../state/details";
import {now} from "../state/now";
import {Clipped} from "./clipped";
import {Diff} from "./diff";
import {useRecord} from "./raw";
import {Terminal, Words} from "./text";

interface Parts {
  task: string;
  call: TaskEvent;
  result: TaskEvent | undefined;
  isOver: boolean;  // the task has ended: what has no result never will
  isAsked: boolean;  // it waits for a person, who is shown the input elsewhere
  isPast: boolean;  // a moment of the past is looked at, in which time stands still
}

const kPathTools = new Set(["Read", "Edit", "MultiEdit", "Write", "NotebookEdit"]);
const isCut = (text: string) => text.endsWith("... (truncated)") || text.endsWith("…");

// Of a Read: which lines, when it asked for some.
function lineRange(input: TaskEvent["input"]): string {
  const [offset, limit] = [Number(input?.["offset"] ?? 0), Number(input?.["limit"] ?? 0)];
  if (!offset && !limit) return "";
  const first = Math.max(1, offset);
  return limit ? `, lines ${first} to ${first + limit - 1}` : `, from line ${first}`;
}

// The line beside the tool's name: what it is about.
export function subject(event: TaskEvent): string {
  const input = event.input;
  if (event.tool === "Bash") return textOf(input, "description");
  if (kPathTools.has(event.tool ?? "")) return (textOf(input, "file_path") || textOf(input, "notebook_path")) + lineRange(input);
  if (event.tool === "Grep" || event.tool === "Glob") return [textOf(input, "pattern"), textOf(input, "path")].filter(Boolean).join(" in ");
  if (event.tool === "WebFetch") return textOf(input, "url");
  if (event.tool === "WebSearch") return textOf(input, "query");
  return textOf(input, "description") || event.summary;
}

function Outcome({call, result, isOver, isAsked, isPast}: Omit<Parts, "task">) {
  if (!result) {
    if (isAsked) return <span class="outcome">waits for you</span>;
    if (isPast) return <span class="outcome">running then</span>;
    if (isOver) return <span class="outcome">no result</span>;
    return <span class="outcome">running {duration(Math.max(0, now.value - Date.parse(call.receivedAt)))}</span>;
  }
  const failed = result.output?.success === false;
  const took = result.durationMS === undefined ? "" : duration(result.durationMS);
  return <span class={failed ? "outcome bad" : "outcome"}>{failed ? "✕ failed" : "✓"} {took}</span>;
}

// The result's text; the whole of it is fetched when asked for.
function Output({task, result, lines, terminal}: {task: string; result: TaskEvent; lines: number; terminal?: boolean}) {
  const [whole, wantWhole] = useState(false);
  const short = result.output?.summary ?? result.summary;
  const detail = whole ? detailOf(task, result.sequence).value : null;
  const full = detail ? textOf(detail.value, "output") : "";
  const text = full || short;
  if (!text) return null;
  const more = isCut(short) && !full && (
    detail?.state === "none" ? <p class="quiet">{detail.error}</p>
      : <button type="button" class="more" onClick={() => wantWhole(true)} disabled={whole}>{whole ? "reading …" : "show all of it"}</button>);
  return (
    <Clipped key={full ? "full" : "short"} text={text.replace(/\n+$/, "")} lines={lines} more={more}>
      {(part) => <pre class="output">{terminal ? <Terminal text={part} /> : <Words text={part} />}</pre>}
    </Clipped>
  );
}

// Edit and Write keep only lengths in the log; the texts are beside the event.
function Change({task, call}: {task: string; call: TaskEvent}) {
  const input = call.input as JsonObject | undefined;
  const inline = typeof input?.["old_string"] === "string" || (typeof input?.["content"] === "string" && !isCut(textOf(input, "content")));
  const detail = inline ? null : detailOf(task, call.sequence).value;
  const from = inline ? input : (detail?.value["input"] as JsonObject | undefined) ?? input;
  const edits = Array.isArray(from?.["edits"]) ? (from["edits"] as JsonObject[]) : from ? [from] : [];
  if (detail?.state === "reading") return <p class="quiet">reading the change …</p>;
  const texts = edits.filter((edit) => typeof edit["new_string"] === "string" || typeof edit["content"] === "string");
  if (texts.length === 0) {
    return <p class="quiet">{Number(input?.["oldLength"] ?? 0)} characters became {Number(input?.["newLength"] ?? 0)}; the texts are not kept.</p>;
  }
  return <>{texts.map((edit, index) => (
    <Diff key={index} before={textOf(edit, "old_string")} after={textOf(edit, "new_string") || textOf(edit, "content")} numbers={typeof edit["content"] === "string"} />))}</>;
}

function Hits({task, result}: {task: string; result: TaskEvent}) {
  const text = result.output?.summary ?? "";
  const hits = text ? text.split("\n").filter(Boolean).length : 0;
  return (
    <>
      <p class="quiet">{hits === 0 ? "no hits" : `${hits}${isCut(text) ? "+" : ""} ${hits === 1 ? "line" : "lines"}`}</p>
      <Output task={task} result={result} lines={6} />
    </>
  );
}

function Body({task, call, result}: Parts) {
  const failed = result?.output?.success === false;
  const output = (lines: number, terminal = false) => result && <Output task={task} result={result} lines={failed ? 20 : lines} terminal={terminal} />;
  switch (call.tool) {
    case "Bash":
      return <><pre class="command"><Words text={textOf(call.input, "command")} /></pre>{output(12, true)}</>;
    case "Edit":
    case "MultiEdit":
    case "Write":
      return <><Change task={task} call={call} />{failed && output(20)}</>;
    case "Read":
      return failed ? <>{output(20)}</> : <>{output(4)}</>;
    case "Grep":
    case "Glob":
      return result ? <Hits task={task} result={result} /> : null;
    case "AskUserQuestion":
      return <><Questions input={call.input as JsonObject | undefined} />{output(8)}</>;
    case "TodoWrite":
      return <Todos input={call.input as JsonObject | undefined} />;
    default:
      return <><Input input={call.input as JsonObject | undefined} />{output(8)}</>;
  }
}

function Questions({input}: {input: JsonObject | undefined}) {
  const list = (of: JsonObject | undefined, name: string) => (Array.isArray(of?.[name]) ? (of[name] as JsonObject[]) : []);
  return (
    <>{list(input, "questions").map((question, index) => (
      <div key={index} class="asked"><b><Words text={textOf(question, "question")} /></b>
        <ul>{list(question, "options").map((option, each) => <li key={each}>○ <Words text={textOf(option, "label")} /> <span class="quiet"><Words text={textOf(option, "description")} /></span></li>)}</ul></div>))}
    </>
  );
}

function Todos({input}: {input: JsonObject | undefined}) {
  const todos = Array.isArray(input?.["todos"]) ? (input["todos"] as JsonObject[]) : [];
  return (
    <ul class="todos">
      {todos.map((todo, index) => (
        <li key={index}><span aria-label={textOf(todo, "status")}>{({completed: "✓", in_progress: "▸"} as Record<string, string>)[textOf(todo, "status")] ?? "○"}</span> <Words text={textOf(todo, "content")} /></li>))}
    </ul>
  );
}

export function Input({input}: {input: JsonObject | undefined}) {
  const entries = Object.entries(input ?? {});
  if (entries.length === 0) return null;
  return (
    <dl class="input">
      {entries.map(([name, value]) => (
        <div key={name}><dt><Words text={name} /></dt><dd><Words text={typeof value === "string" ? value : JSON.stringify(value)} /></dd></div>))}
    </dl>
  );
}

export function ToolCard(parts: Parts) {
  const {task, call, result} = parts;
  const failed = result?.output?.success === false;
  const {button, record} = useRecord(task, result && result !== call ? [call.sequence, result.sequence] : [call.sequence]);
  return (
    <div class={failed ? "card failed" : "card"}>
      <header>
        <span class="tool"><Words text={call.tool || "tool"} /></span>
        <span class="subject"><Words text={middle(subject(call), 110)} /></span>
        <Outcome {...parts} />
        {button}
      </header>
      {!parts.isAsked && <Body {...parts} />}
      {record}
    </div>
  );
}
