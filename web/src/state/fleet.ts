// The rows of the fleet: read once, then kept by task_update. Changes are gathered and shown a few times a second, so
// that a thousand events a second cost as much as ten.
import {computed, signal} from "@preact/signals";
import {api} from "../api/client";
import type {Task} from "../api/types";
import {Activity} from "../model/activity";
import {onCatchUp, onMessage} from "./live";

const kPage = 1000;
const kMostActivePages = 5;  // of tasks that have not ended, whatever their age
const kShowEveryMs = 250;

const rows = new Map<string, Task>();
export const activity = new Activity();
const version = signal(0);
export const loaded = signal(false);
export const loadError = signal("");
// Where the tasks begin that are not here, older than all that are: "" when every task is.
export const olderFrom = signal("");

let touched: Set<string> | null = null;  // while the fleet is read: what is certainly there
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
  if (before && before.lastSequence > task.lastSequence) return;  // a page that was on its way while an update came
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

// The newest, and all that are active. What is neither may have ended or be gone: it is read again when it is asked for.
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

// What the server finds beyond what is here. Its words are those of title and description.
export async function findBeyond(filter: {text: string; state: string; agent: string}): Promise<void> {
  if (filter.state === "ended") return;  // not one state; older ones are loaded by hand
  const state = filter.state === "active" ? {active: true} : {state: filter.state};
  const page = await api.tasks({limit: kPage, text: filter.text, agent: filter.agent === "external" ? "" : filter.agent, ...state});
  page.value.forEach(put);
}

export function startFleet(): void {
  onCatchUp(load);
  onMessage((message) => {
    if (message.type === "task_update") put(message.data as unknown as Task);
  });
}
