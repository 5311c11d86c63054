// Sends commands, follows their outcome and says which commands a task's agent accepts.
import {useComputed} from "@preact/signals";
import {api, ApiError} from "../api/client";
import type {Command, CommandAnswer, CommandKind, Task, TaskRequest} from "../api/types";
import {takes} from "../model/takes";
import {Intents} from "../model/intents";
import {taskRow} from "./fleet";
import {me} from "./session";

export function newID(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return "page-" + Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// With no answer, or one from a proxy, it is unknown whether the server accepted the command.
export const isLost = (error: unknown) => !(error instanceof ApiError) || error.status === 0 || error.status === 429 || error.status >= 500;
const intents = new Intents(newID, isLost);

// Sending the same command again after a lost answer does not repeat it.
export function send(task: string, command: Omit<Command, "id">): Promise<CommandAnswer> {
  return intents.ask(JSON.stringify([task, command]), (id) => api.command(task, {...command, id}));
}

export const createTask = (request: TaskRequest): Promise<Task> => intents.ask(JSON.stringify(request), (id) => api.createTask(request, id));

// Why the command could not be sent, and what sending it again means.
export function failureWords(error: unknown): string {
  const message = (error as Error).message;
  return isLost(error) ? `${message} Whether it arrived is not known; send it again, it is done only once.` : message;
}

// A command that was sent from here, with its known state.
export interface Sent {
  id: string;
  kind: CommandKind;
  state: string;
  reason: string | undefined;
  by?: string | undefined;  // undefined means this page
}

// A command's own events have its progress; the answer to sending it is only the beginning.
export function followed(task: Task | undefined, sent: Sent): Sent {
  const now = task?.commands?.find((command) => command.id === sent.id);
  return now ? {...sent, state: now.state ?? sent.state, reason: now.reason || sent.reason} : sent;
}

// The last answer to an approval, from this page or another client. The request may still return unanswered.
export function answerTo(task: Task | undefined, approvalID: string): Sent | null {
  const found = task?.commands?.filter((command) => command.approvalID === approvalID).pop();
  return found?.id && found.kind ? {id: found.id, kind: found.kind, state: found.state ?? "accepted", reason: found.reason, by: found.by} : null;
}

// The command had no effect and may be sent again.
export const cameToNothing = (sent: {state?: string | undefined}) => sent.state === "refused" || sent.state === "expired";

const kDone: Partial<Record<CommandKind, string>> = {approve: "Approved", deny: "Denied", answer: "Answered", steer: "Sent", queue: "Sent"};

// The command, its sender and its outcome in words.
export function settledWords(sent: Sent): string {
  const done = kDone[sent.kind] ?? sent.kind;
  if (cameToNothing(sent)) return `${done}: ${explained(sent.state, sent.reason)}`;
  return `${done} ✓ by ${!sent.by || sent.by === me.peek()?.person ? "you" : sent.by} · ${explained(sent.state, sent.reason)}`;
}

// The live row of one task.
export const useTaskRow = (id: string): Task | undefined => useComputed(() => taskRow(id)).value;

export const can = (task: Task | undefined, kind: CommandKind): boolean => takes(task, kind);

const kReasons: Record<string, string> = {
  no_runner: "no runner has this task now",
  unsupported: "this agent cannot do that",
  already_answered: "another person answered first",
  approval_not_open: "the request is closed",
  task_ended: "the task had ended",
};

export function explained(state: string, reason: string | undefined): string {
  if (state === "expired") return "expired: no runner took it in time, so it was not done";
  if (state === "refused") return `refused: ${kReasons[reason ?? ""] ?? (reason || "no reason given")}`;
  if (state === "accepted") return "accepted, on its way";
  if (state === "delivered") return "given to the agent";
  if (state === "acknowledged") return "the agent took it up";
  return state;
}
