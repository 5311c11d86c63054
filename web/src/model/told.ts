// Chooses the row of a task's story that shows an event. Most events have their own row. A call's card shows its result
// and its settled approval with the answer and the state change; a command's row shows the agent's echo. Pure.
import type {TaskEvent} from "../api/types";
import type {TaskLog} from "./log";
import {objectOf, textOf} from "./shape";

const kBehind = 8;  // commands and their outcomes may come between an approval and the state it changes

// The approval whose words this state only repeats; empty if there is none.
function approvalBehind(log: TaskLog, status: TaskEvent): string {
  for (let n = status.sequence - 1; n >= status.sequence - kBehind; --n) {
    const before = log.at(n);
    if (before?.type === "approval") return before.summary === status.summary ? textOf(before.data, "approvalID") : "";
    if (before?.type !== "command" && before?.type !== "command_result") return "";
  }
  return "";
}

// Its own row while it is shown as open, otherwise its call's card; 0 if neither is held.
function approvalRow(log: TaskLog, id: string, isOpen: (approvalID: string) => boolean): number {
  const asked = log.asked(id);
  return (!isOpen(id) && log.call(log.at(asked)?.callID)?.call) || asked;
}

// The event whose row shows this one: itself, another one, or 0 if the head and the panel show all of it.
export function toldIn(log: TaskLog, event: TaskEvent, isOpen: (approvalID: string) => boolean): number {
  const data = objectOf(event.data);
  switch (event.type) {
    case "tool_result":
      return log.call(event.callID)?.call || event.sequence;
    case "command_result":
      return 0;
    case "usage":
      return data?.["partial"] === true ? 0 : event.sequence;
    case "approval":
    case "command":
      return approvalRow(log, textOf(data, "approvalID"), isOpen) || event.sequence;
    case "status":
      return approvalRow(log, approvalBehind(log, event), isOpen) || event.sequence;
    case "message":
      return (textOf(data, "role") === "user" && log.said(textOf(data, "content"), event.sequence)) || event.sequence;
    default:
      return event.sequence;
  }
}

// The row to view for an event: the one that shows it, or the nearest one before it.
export function rowOf(log: TaskLog, sequence: number, isOpen: (approvalID: string) => boolean): number {
  for (let n = sequence; n >= log.first; --n) {
    const event = log.at(n);
    const told = event ? toldIn(log, event, isOpen) : n;
    if (told > 0) return told;
  }
  return sequence;
}
