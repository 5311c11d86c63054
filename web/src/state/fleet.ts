// The rows of the fleet: read once, then updated by task_update. Changes are collected and shown a few times a second,
// so that a thousand events a second cost as much as ten.
import {computed, signal} from "@preact/signals";
import {api} from "../api/client";
import type {Task} from "../api/types";
import {Activity} from "../model/activity";
import {midnightOf} from "../model/format";
import {onCatchUp, onMessage} from "./live";

const kPage = 1000;
const kMostActivePages = 5;  // for tasks that have not ended, whatever their age
const kShowEveryMs = 250;

const rows = new Map<string, Task>();
export const activity = new Activity();
const version = signal(0);
export const loaded = signal(false);
export const loadError = signal("");
// The cursor to the older tasks that are not loaded; "" when every task is loaded.
export const olderFrom = signal("");

let touched: Set<string> | null = null;  // tasks that were updated while the fleet is read, so they certainly exist
let pending = false;
function showSoon(): void {
  if (pending) return;
  pending = true;
  setTimeout(() => {
    pending = false;
    ++version.value;
  }, kShowEveryMs);
}

export function put(task: Task): void {
  touched?.add(task.id);
  const before = rows.get(task.id);
  if (before && before.lastSequence > task.lastSequence) return;  // the page was requested before the update
  activity.note(task.id, task.lastSequence, before?.lastSequence, Date.now());
  rows.set(task.id, task);
  showSoon();
}

export const tasks = computed<Task[]>(() => {
  version.value;
  return [...rows.values()].sort((a, b) => (a.createdAt < b.createdAt ? 1 : a.createdAt > b.createdAt ? -1 : a.id < b.id ? -1 : 1));
});

export const taskRow = (id: string): Task | undefined => {
  version.value;
  return rows.get(id);
};

// Reads the newest tasks and all active ones. Any other task may have ended or been deleted and is read again on
// demand.
async function load(): Promise<void> {
  const seen = new Set<string>();
  touched = seen;
  try {
    const newest = await api.tasks({limit: kPage});
    newest.value.forEach(put);
    for (let page = 0, before = ""; newest.next && page < kMostActivePages; ++page) {
      const active = await api.tasks({limit: kPage, active: true, before});
      active.value.forEach(put);
      before = active.next;
      if (!before) break;
    }
    for (const id of rows.keys()) if (!seen.has(id)) rows.delete(id);
    olderFrom.value = newest.next;
    loaded.value = true;
    loadError.value = "";
    ++version.value;
  } catch (error) {
    loadError.value = (error as Error).message;
    throw error;
  } finally {
    if (touched === seen) touched = null;
  }
}

export async function loadOlder(): Promise<void> {
  const page = await api.tasks({limit: kPage, before: olderFrom.value});
  page.value.forEach(put);
  olderFrom.value = page.next;
  ++version.value;
}

// Finds tasks on the server that are not loaded. The server searches title and description.
export async function findBeyond(filter: {text: string; state: string; agent: string; ended: string}): Promise<void> {
  if (filter.state === "ended") return;  // not a single state; the person loads older ones by hand
  const state = filter.state === "active" ? {active: true} : {state: filter.state};
  const page = await api.tasks({limit: kPage, text: filter.text, agent: filter.agent === "external" ? "" : filter.agent, ...state, ...(filter.ended === "today" ? {from: new Date(midnightOf(Date.now())).toISOString(), to: new Date().toISOString()} : {})});
  page.value.forEach(put);
}

export function startFleet(): void {
  onCatchUp(load);
  onMessage((message) => {
    if (message.type === "task_update") put(message.data as unknown as Task);
    if (message.type === "task_deleted" && message.taskID && rows.delete(message.taskID)) {
      touched?.delete(message.taskID);
      showSoon();
    }
  });
}
