// Which row of a task's story tells an event. Most have a row of their own; a result is told in its call's card, and so is an
// approval that is over, with who answered and the state it changed; an agent's echo in the command that it repeats. Pure.
import type {TaskEvent} from "../api/types";
import type {TaskLog} from "./log";
import {objectOf, textOf} from "./shape";

const kBehind = 8;  // commands and what became of them may come between an approval and the state it changes

// The approval behind which this state is only said again, in the same words; empty: none.
function approvalBehind(log: TaskLog, status: TaskEvent): string {
  for (let n = status.sequence - 1; n >= status.sequence - kBehind; --n) {
    const before = log.at(n);
    if (before?.type === "approval") return before.summary === status.summary ? textOf(before.data, "approvalID") : "";
    if (before?.type !== "command" && before?.type !== "command_result") return "";
  }
  return "";
}

// Its own row while it is shown as open, else its call's card; 0: neither is held.
function approvalRow(log: TaskLog, id: string, isOpen: (approvalID: string) => boolean): number {
  const asked = log.asked(id);
  return (!isOpen(id) && log.call(log.at(asked)?.callID)?.call) || asked;
}

// The event whose row tells this one: itself, another one, or 0: none, as all of it is in the head and the panel.
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

// The row to look at for an event: the one that tells it, or the one before it.
export function rowOf(log: TaskLog, sequence: number, isOpen: (approvalID: string) => boolean): number {
  for (let n = sequence; n >= log.first; --n) {
    const event = log.at(n);
    const told = event ? toldIn(log, event, isOpen) : n;
    if (told > 0) return told;
  }
  return sequence;
}
