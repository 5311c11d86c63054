// The part of the fold for operators: commands and how they settle, and the agent's questions.
import type {CommandKind, CommandState, TaskEvent} from "../api/types";
import type {FoldedCommand, TaskState} from "./fold";
import {textOf} from "./shape";

const kMostCommands = 64;
const kMostApprovals = 64;
const kOrder: readonly CommandState[] = ["accepted", "delivered", "acknowledged", "refused", "expired"];
export const kCommandKinds: readonly CommandKind[] = ["steer", "queue", "interrupt", "resume", "set_mode", "approve",
  "deny", "answer", "stop"];

const isSettled = (state: CommandState) => state !== "accepted" && state !== "delivered";

// Whether a result may still come: an agent does not report every kind of command that was delivered to it.
function isOpen(state: TaskState, command: FoldedCommand): boolean {
  if (isSettled(command.state)) return false;
  if (command.state === "accepted" || state.capabilities === null) return true;
  const reported = state.capabilities["acknowledges"];
  return Array.isArray(reported) && reported.includes(command.kind);
}

export function foldCommand(state: TaskState, event: TaskEvent): void {
  const id = textOf(event.data, "id");
  const kind = kCommandKinds.find((name) => name === textOf(event.data, "kind"));
  if (!id || !kind || state.commands.some((each) => each.id === id)) return;
  state.commands.push({
    id, kind, state: "accepted", by: textOf(event.data, "by"), reason: "",
    approvalID: textOf(event.data, "approvalID"), sequence: event.sequence,
  });
  while (state.commands.length > kMostCommands) {
    const oldest = state.commands.findIndex((each) => !isOpen(state, each));
    if (oldest < 0) return;
    state.commands.splice(oldest, 1);
  }
}

export function foldCommandResult(state: TaskState, event: TaskEvent): void {
  const found = state.commands.find((each) => each.id === textOf(event.data, "id"));
  const next = kOrder.find((name) => name === textOf(event.data, "state"));
  if (!found || !next) return;
  const held = next === "accepted" && found.state === "accepted";  // the runner keeps it for later, and says why
  if (isSettled(found.state) || (kOrder.indexOf(next) <= kOrder.indexOf(found.state) && !held)) return;  // never back
  found.state = next;
  found.reason = textOf(event.data, "reason");
}

export function foldApproval(state: TaskState, event: TaskEvent): void {
  const id = textOf(event.data, "approvalID");
  if (!id) return;
  state.approvals = state.approvals.filter((each) => each.id !== id);
  const now = textOf(event.data, "state");
  if (now !== "pending" && now !== "open") return;
  if (state.approvals.length >= kMostApprovals) state.approvals.shift();
  state.approvals.push({
    id, kind: textOf(event.data, "kind"), tool: event.tool || textOf(event.data, "tool"), summary: event.summary,
    sequence: event.sequence, expiresAt: textOf(event.data, "expiresAt"),
  });
}

// The task has ended: commands that were accepted but never delivered are refused, and open questions close.
export function endCommands(state: TaskState): void {
  state.approvals = [];
  for (const command of state.commands) {
    if (command.state !== "accepted") continue;
    command.state = "refused";
    command.reason = "task_ended";
  }
}
