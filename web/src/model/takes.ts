// Which commands a task takes. Pure.
import type {CommandKind, Task} from "../api/types";
import {objectOf} from "./shape";

// An agent that has said what it takes gets nothing else. Before it is there, the server itself can only stop the task.
// Afterwards an agent that lists nothing may be sent any command, as on the server; the outcome shows.
export function takes(task: Task | undefined, kind: CommandKind): boolean {
  if (!task) return true;  // its row is not loaded; the server knows
  const listed = objectOf(task.capabilities)?.["commands"];
  if (Array.isArray(listed)) return listed.includes(kind);
  return kind === "stop" || (task.status?.state ?? "queued") !== "queued";
}
