// The fold: a task's state is a pure function of its log. Same rules as src/model/task_fold.cpp; the files in
// tests/golden/fold test both.
import type {CommandKind, CommandState, JsonObject, State, TaskEvent} from "../api/types";
import {textOf} from "./shape";
import {foldApproval, foldCommand, foldCommandResult, endCommands} from "./fold_commands";

export interface FoldedCommand {
  id: string;
  kind: CommandKind;
  state: CommandState;
  by: string;
  reason: string;
  approvalID: string;
  sequence: number;
}
export interface FoldedApproval {
  id: string;
  kind: string;
  tool: string;
  summary: string;
  sequence: number;
  expiresAt: string;
}

export interface TaskState {
  state: State;
  inferredEnd: boolean;
  message: string;
  activity: string;
  prURL: string;
  error: string;
  sessionID: string;
  model: string;
  firstSequence: number;
  lastSequence: number;
  errors: number;
  toolCalls: number;
  startedMS: number;
  lastEventMS: number;
  completedMS: number;
  usage: FoldedUsage;
  usageBySession: Map<string, FoldedUsage>;
  commands: FoldedCommand[];
  approvals: FoldedApproval[];
  capabilities: JsonObject | null;
}

const kUsage = ["costUSD", "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens", "apiCalls", "toolUses",
  "turns"] as const;
// `unpriced`: the cost of some of it is not known.
type FoldedUsage = Record<(typeof kUsage)[number], number> & {unpriced?: true};
const noUsage = (): FoldedUsage =>
  Object.fromEntries(kUsage.map((name) => [name, 0])) as unknown as FoldedUsage;

export function newTaskState(): TaskState {
  return {
    state: "queued", inferredEnd: false, message: "", activity: "", prURL: "", error: "", sessionID: "", model: "",
    firstSequence: 0, lastSequence: 0, errors: 0, toolCalls: 0, startedMS: 0, lastEventMS: 0, completedMS: 0,
    usage: noUsage(), usageBySession: new Map(), commands: [], approvals: [], capabilities: null,
  };
}

const kTerminal: readonly State[] = ["completed", "failed", "timed_out", "cancelled"];
const kStates: readonly State[] = ["queued", "starting", "running", "waiting_for_input", "paused", "interrupted", ...kTerminal];
export const isTerminal = (state: State): boolean => kTerminal.includes(state);

// A status may not go back in this order: queued, starting, the active states, the terminal ones.
function rank(state: State): number {
  if (isTerminal(state)) return 3;
  return state === "queued" ? 0 : state === "starting" ? 1 : 2;
}

const kNotFromAgent = new Set(["status", "command", "command_result", "message", "eviction"]);
const kSaysActivity = new Set(["tool_call", "thinking", "output", "status"]);

function countOf(from: unknown, name: string): number | undefined {
  const value = (from as JsonObject | undefined)?.[name];
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : undefined;
}

function enter(state: TaskState, next: State, at: number, byServer: boolean): void {
  // A task that never began goes back to the queue: the server writes this when the runner disappears.
  const isBackInQueue = byServer && state.state === "starting" && next === "queued";
  if (isTerminal(state.state) || (rank(next) < rank(state.state) && !isBackInQueue)) return;
  state.state = next;
  if (state.startedMS === 0 && rank(next) === 2) state.startedMS = at;
  if (isTerminal(next)) {
    state.completedMS = at;
    state.inferredEnd = byServer;
    endCommands(state);
  }
}

const tokensIn = (usage: FoldedUsage): number =>
  usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;

function foldUsage(state: TaskState, event: TaskEvent): void {
  const session = textOf(event, "sessionID") || state.sessionID;
  const usage = state.usageBySession.get(session) ?? noUsage();
  state.usageBySession.set(session, usage);
  const data = event.data as JsonObject | undefined;
  const cost = data?.["costUSD"];
  const isPriced = typeof cost === "number" && cost >= 0;
  for (const name of kUsage) {
    const value = name !== "costUSD" ? countOf(data, name) : isPriced ? cost : undefined;
    if (value !== undefined) usage[name] = value;
  }
  // In the middle of a turn the cost may still come. What never had one is not free.
  const wasNeverPriced = usage.costUSD === 0 && tokensIn(usage) > 0;
  if (data?.["unpriced"] === true || (!isPriced && wasNeverPriced && data?.["partial"] !== true)) usage.unpriced = true;
  else if (isPriced) delete usage.unpriced;
  state.usage = noUsage();
  for (const part of state.usageBySession.values()) {
    for (const name of kUsage) state.usage[name] += part[name];
    if (part.unpriced) state.usage.unpriced = true;
  }
}

function foldStatus(state: TaskState, event: TaskEvent, at: number, byServer: boolean): void {
  const message = textOf(event.data, "message") || event.summary;
  if (message) state.message = message;
  state.prURL = textOf(event.data, "prURL") || state.prURL;
  state.error = textOf(event.data, "error") || state.error;
  const capabilities = (event.data as JsonObject | undefined)?.["capabilities"];
  if (capabilities !== null && typeof capabilities === "object" && !Array.isArray(capabilities)) {
    state.capabilities = capabilities as JsonObject;
  }
  const next = kStates.find((name) => name === textOf(event.data, "state"));
  if (next) {
    if ((next === "failed" || next === "timed_out") && !state.error) state.error = message;
    enter(state, next, at, byServer);
  } else if (!byServer && rank(state.state) < 2) {
    enter(state, "running", at, byServer);
  }
}

// Applies the next event. `byServer` means that the server itself wrote it (runner lost, timeout, a claim).
export function fold(state: TaskState, event: TaskEvent, byServer = false): void {
  const at = Date.parse(event.receivedAt);
  if (state.firstSequence === 0) state.firstSequence = event.sequence;
  state.lastSequence = event.sequence;
  state.lastEventMS = at;
  if (event.type === "tool_call") ++state.toolCalls;
  if (event.type === "error") ++state.errors;
  if (event.type === "usage") foldUsage(state, event);
  if (event.late === true || isTerminal(state.state)) return;

  if (!kNotFromAgent.has(event.type) && !byServer && rank(state.state) < 2) enter(state, "running", at, byServer);
  if (kSaysActivity.has(event.type) && event.summary) state.activity = event.summary;
  switch (event.type) {
    case "status":
      foldStatus(state, event, at, byServer);
      break;
    case "session_start":
      state.sessionID = textOf(event, "sessionID") || state.sessionID;
      state.model = textOf(event.data, "model") || state.model;
      break;
    case "result":
      state.prURL = textOf(event.data, "prURL") || state.prURL;
      break;
    case "command":
      foldCommand(state, event);
      break;
    case "command_result":
      foldCommandResult(state, event);
      break;
    case "approval":
      foldApproval(state, event);
      break;
  }
}
