// Selects and groups the rows of the fleet. Pure.
import type {State, Task} from "../api/types";
import {midnightOf} from "./format";

export interface Filter {
  state: string;  // a state, or "active" / "ended"
  agent: string;
  text: string;
  group: string;  // "" | "agent" | "workflow" | "state"
  ended: string;  // "" | "today"
}

export type FleetRow = {kind: "task"; task: Task} | {kind: "group"; name: string; count: number};

const kEnded: readonly State[] = ["completed", "failed", "timed_out", "cancelled"];

export function titleOf(task: Task): string {
  return task.title || task.id;
}

// Tokens of all classes. Every single "tokens" number means this sum.
export function tokensOf(task: Task): number {
  const {inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0} = task.usage ?? {};
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

export function workflowOf(task: Task): string {
  const value = (task as Record<string, unknown>)["workflowID"];
  return typeof value === "string" ? value : "";
}

function matches(task: Task, filter: Filter, words: string[], now: number): boolean {
  const state = task.status?.state ?? "queued";
  if (filter.state === "active" && kEnded.includes(state)) return false;
  if (filter.state === "ended" && !kEnded.includes(state)) return false;
  if (filter.state && filter.state !== "active" && filter.state !== "ended" && state !== filter.state) return false;
  if (filter.ended === "today" && !(Date.parse(task.completionTime ?? "") >= midnightOf(now))) return false;
  if (filter.agent && (task.agent || "external") !== filter.agent) return false;
  if (words.length === 0) return true;
  const labels = Object.entries(task.labels ?? {}).map(([key, value]) => `${key}=${value}`).join(" ");
  const text = `${titleOf(task)} ${task.id} ${task.agent ?? ""} ${task.model ?? ""} ${task.activity ?? ""} ${labels} ${workflowOf(task)}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

// `now` decides what is today.
export function fleetRows(tasks: readonly Task[], filter: Filter, now: number): FleetRow[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = tasks.filter((task) => matches(task, filter, words, now));
  if (!filter.group) return found.map((task) => ({kind: "task", task}));
  const groups = new Map<string, Task[]>();
  for (const task of found) {
    const name = filter.group === "agent" ? task.agent || "external"
      : filter.group === "workflow" ? workflowOf(task) || "no workflow" : (task.status?.state ?? "queued").replaceAll("_", " ");
    const group = groups.get(name);
    if (group) group.push(task);
    else groups.set(name, [task]);
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([name, members]): FleetRow[] =>
    [{kind: "group", name, count: members.length}, ...members.map((task): FleetRow => ({kind: "task", task}))]);
}
