// What a chat's view shows of its log: which event is a row of its own, what left the model's context, how much of the
// context is used. Events are noted in any order, as they are read. Pure.
import type {JsonObject, Task, TaskEvent} from "../api/types";
import type {TaskLog} from "./log";
import {countOf, numberOf, objectOf, objectsOf, textOf, textsOf} from "./shape";

export interface ChatStart {
  sequence: number;
  model: string;
  system: string;
  tools: string[];
  contextTokens: number;
}
export interface Departure {
  sequence: number;  // of the eviction
  cleared: boolean;  // by a person, not for room
}
export interface Requested {
  name: string;
  arguments: string;  // as the model wrote them: JSON, or what was meant as JSON
}
export interface Context {
  tokens: number;
  exact: boolean;
}
export interface Cost {
  usd: number;
  unpriced: boolean;  // some call had no known price
}

export interface Outcome {
  state: string;
  reason: string;
}

export interface Waiting {
  id: string;
  sequence: number;
  text: string;
  now: boolean;  // for the running turn, not for one of its own
  by: string;
}

interface Counted {
  sequence: number;
  tokens: number;
  total: number | undefined;
  exact: boolean | undefined;  // undefined: an eviction, which does not change it
}

export const roleOf = (event: TaskEvent): string => (event.type === "message" ? textOf(event.data, "role") : "");
export const isFinal = (event: TaskEvent): boolean => (event.type === "message" || event.type === "error") && objectOf(event.data)?.["final"] === true;

const kSettled = new Set(["delivered", "acknowledged", "refused", "expired"]);

export class ChatLog {
  start: ChatStart | undefined;
  cost: Cost | undefined;
  said = 0;   // the newest event that ends live text: a message of the model, or a turn's end
  asked = 0;  // the first prompt that is held
  #usage = 0;  // the event that `cost` is from
  #gone = new Map<number, Departure>();
  #results = new Map<string, number>();
  #requested = new Map<string, Requested>();
  #outcomes = new Map<string, Outcome>();
  #sent: Waiting[] = [];  // prompts and words that operators sent
  #counted: Counted[] = [];  // ascending
  #seen = new Set<number>();

  // When the message left the model's context; undefined if it is still there.
  gone(sequence: number): Departure | undefined {
    return this.#gone.get(sequence);
  }
  // The message with the tool's result for the model; 0 if it is not held.
  result(callID: string | undefined): number {
    return callID ? this.#results.get(callID) ?? 0 : 0;
  }
  // What the model asked for with this call.
  requested(callID: string | undefined): Requested | undefined {
    return callID ? this.#requested.get(callID) : undefined;
  }

  // What became of a command, if its end is held or the task's row has it.
  outcome(id: string, task: Task): Outcome | undefined {
    const row = task.commands?.find((each) => each.id === id);
    return this.#outcomes.get(id) ?? (row?.state && kSettled.has(row.state) ? {state: row.state, reason: row.reason ?? ""} : undefined);
  }

  // Prompts and words that the model has not got yet, in the order in which they were sent. The row may be older than the
  // log that is held, and the log may lack an old command's end.
  waiting(log: TaskLog, task: Task): Waiting[] {
    const open = new Map<string, Waiting>();
    for (const each of task.commands ?? []) {
      if ((each.kind !== "queue" && each.kind !== "steer") || !each.id || this.outcome(each.id, task)) continue;
      open.set(each.id, {id: each.id, sequence: each.sequence ?? 0, text: textOf(log.at(each.sequence ?? 0)?.data, "content"), now: each.kind === "steer", by: each.by ?? ""});
    }
    for (const each of this.#sent) if (each.sequence > task.lastSequence && !this.outcome(each.id, task)) open.set(each.id, each);
    return [...open.values()].sort((a, b) => a.sequence - b.sequence);
  }

  // The tokens in the context, by the server's rule: the newest total, and what came after it.
  context(): Context | undefined {
    let tokens = 0;
    let exact: boolean | undefined;
    for (let at = this.#counted.length - 1; at >= 0; --at) {
      const each = this.#counted[at]!;
      exact ??= each.exact;
      if (each.total !== undefined) return {tokens: tokens + each.total, exact: exact ?? this.#exactBefore(at)};
      tokens += each.tokens;
    }
    return this.#counted.length > 0 ? {tokens, exact: exact ?? false} : undefined;
  }

  note(event: TaskEvent): void {
    if (this.#seen.has(event.sequence)) return;
    this.#seen.add(event.sequence);
    const data = objectOf(event.data) ?? {};
    switch (event.type) {
      case "session_start":
        if (event.sequence > (this.start?.sequence ?? 0)) {
          this.start = {sequence: event.sequence, model: textOf(data, "model"), system: textOf(data, "system"), tools: textsOf(data["tools"]), contextTokens: countOf(data, "contextTokens")};
        }
        break;
      case "message":
        this.#message(event, data);
        break;
      case "eviction":
        for (const each of Array.isArray(data["messages"]) ? data["messages"] : []) {
          const sequence = numberOf(each);
          if (sequence !== undefined && !this.#gone.has(sequence)) this.#gone.set(sequence, {sequence: event.sequence, cleared: data["reason"] === "cleared"});
        }
        this.#count({sequence: event.sequence, tokens: 0, total: countOf(data, "totalTokens"), exact: undefined});
        break;
      case "usage":
        if (event.sequence < this.#usage) break;
        this.#usage = event.sequence;
        this.cost = {usd: numberOf(data["costUSD"]) ?? 0, unpriced: data["unpriced"] === true};
        break;
      case "command": {
        const kind = textOf(data, "kind");
        if (kind === "queue" || kind === "steer") this.#sent.push({id: textOf(data, "id"), sequence: event.sequence, text: textOf(data, "content"), now: kind === "steer", by: textOf(data, "by")});
        break;
      }
      case "command_result":
        if (kSettled.has(textOf(data, "state"))) this.#outcomes.set(textOf(data, "id"), {state: textOf(data, "state"), reason: textOf(data, "reason")});
        break;
      case "error":
        if (data["final"] === true) this.said = Math.max(this.said, event.sequence);
        break;
    }
  }

  #message(event: TaskEvent, data: JsonObject): void {
    const role = textOf(data, "role");
    if (role === "user" && (this.asked === 0 || event.sequence < this.asked)) this.asked = event.sequence;
    if (role === "assistant") this.said = Math.max(this.said, event.sequence);
    for (const call of objectsOf(data["toolCalls"])) {
      if (textOf(call, "id")) this.#requested.set(textOf(call, "id"), {name: textOf(call, "name"), arguments: textOf(call, "arguments")});
    }
    const call = event.callID ?? textOf(data, "toolCallID");
    if (role === "tool" && call) this.#results.set(call, event.sequence);
    this.#count({sequence: event.sequence, tokens: countOf(data, "tokens"), total: numberOf(data["totalTokens"]), exact: data["tokensExact"] === true});
  }

  #count(counted: Counted): void {
    let at = this.#counted.length;
    while (at > 0 && this.#counted[at - 1]!.sequence > counted.sequence) --at;
    this.#counted.splice(at, 0, counted);
  }

  #exactBefore(at: number): boolean {
    for (let n = at - 1; n >= 0; --n) if (this.#counted[n]!.exact !== undefined) return this.#counted[n]!.exact!;
    return false;
  }
}

export type ChatRowKind = "start" | "prompt" | "answer" | "tool" | "result" | "approval" | "eviction" | "error" | "remark" | "refused" | "command" | "end" | "other";

const kNotShown = new Set(["usage", "command_result", "tool_result"]);
const kSilent = new Set(["approve", "deny", "answer", "interrupt"]);
const kEnds = new Set(["completed", "failed", "timed_out", "cancelled"]);

// How an event is shown; null if another row, the head or the composer shows all of it.
export function rowKind(log: TaskLog, chat: ChatLog, event: TaskEvent, task: Task): ChatRowKind | null {
  const data = objectOf(event.data) ?? {};
  if (kNotShown.has(event.type)) return null;
  switch (event.type) {
    case "session_start": return "start";
    case "message": {
      const role = textOf(data, "role");
      if (role === "user") return "prompt";
      if (role === "tool") return log.call(event.callID)?.call ? null : "result";
      return textOf(data, "content") || textOf(data, "reasoning") || data["final"] === true ? "answer" : null;
    }
    case "tool_call": return "tool";
    case "approval": return log.call(event.callID)?.call ? null : textOf(data, "state") === "pending" ? "approval" : null;
    case "eviction": return "eviction";
    case "error": return "error";
    case "log": return "remark";
    case "status": return kEnds.has(textOf(data, "state")) ? "end" : null;
    case "command": {
      const kind = textOf(data, "kind");
      if (kSilent.has(kind)) return null;
      if (kind !== "steer" && kind !== "queue") return "command";
      const state = chat.outcome(textOf(data, "id"), task)?.state;
      return state === "refused" || state === "expired" ? "refused" : null;
    }
    default: return "other";
  }
}

const kMostSteps = 500;  // looked at for the beginning of a turn, or for a row

// The row to view for an event: its own, its call's card, or the nearest one before it.
export function rowFor(log: TaskLog, chat: ChatLog, task: Task, sequence: number): number {
  const shows = (n: number) => {
    const event = log.at(n);
    return !event || rowKind(log, chat, event, task) !== null;
  };
  if (shows(sequence)) return sequence;
  const card = log.call(log.at(sequence)?.callID)?.call;
  if (card) return card;
  for (let n = sequence - 1; n >= log.first && n > sequence - kMostSteps; --n) if (shows(n)) return n;
  return sequence;
}

// The prompt that began the turn of this event; undefined if not all events between them are held.
export function promptOf(log: TaskLog, sequence: number): TaskEvent | undefined {
  let prompt: TaskEvent | undefined;
  for (let n = sequence - 1; n >= log.first && n > sequence - kMostSteps; --n) {
    const event = log.at(n);
    if (!event) return undefined;
    if (isFinal(event)) break;
    if (roleOf(event) === "user") prompt = event;
  }
  return prompt;
}
