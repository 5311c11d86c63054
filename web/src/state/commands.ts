// Sending commands, and what a task's agent can be asked.
import {api} from "../api/client";
import type {Command, CommandAnswer, CommandKind, Task} from "../api/types";

function newID(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return "page-" + Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// One id per intent: sending it again after a lost answer asks nothing twice.
export function send(task: string, command: Omit<Command, "id">, id = newID()): Promise<CommandAnswer> {
  return api.command(task, {...command, id});
}

export function can(task: Task, kind: CommandKind): boolean {
  const listed = (task.capabilities as {commands?: unknown} | null | undefined)?.commands;
  return Array.isArray(listed) ? listed.includes(kind) : true;
}

const kReasons: Record<string, string> = {
  no_runner: "nobody runs this task now",
  unsupported: "this agent cannot do that",
  already_answered: "somebody answered first",
  approval_not_open: "it is no longer asked",
  task_ended: "the task had ended",
};

export function explained(state: string, reason: string | undefined): string {
  if (state === "expired") return "expired: nobody took it in time";
  if (state === "refused") return `refused: ${kReasons[reason ?? ""] ?? (reason || "no reason given")}`;
  if (state === "accepted") return "accepted, on its way";
  if (state === "delivered") return "given to the agent";
  if (state === "acknowledged") return "the agent took it up";
  return state;
}
