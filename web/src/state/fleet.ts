// The rows of the fleet: read once, then kept by task_update. Changes are gathered and shown a few times a second, so
// that a thousand events a second cost as much as ten.
import {computed, signal} from "@preact/signals";
import {api} from "../api/client";
import type {Task} from "../api/types";
import {Activity} from "../model/activity";
import {onCatchUp, onMessage} from "./live";

const kMostRows = 2000;
const kPage = 1000;
const kShowEveryMs = 250;

const rows = new Map<string, Task>();
export const activity = new Activity();
const version = signal(0);
export const loaded = signal(false);
export const loadError = signal("");

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

async function load(): Promise<void> {
  try {
    const page = await api.tasks({limit: kPage});
    const seen = new Set(page.map((task) => task.id));
    page.forEach(put);
    if (page.length === kPage) (await api.tasks({limit: kMostRows - kPage, active: true})).forEach((task) => { seen.add(task.id); put(task); });
    else for (const id of rows.keys()) if (!seen.has(id)) rows.delete(id);  // deleted meanwhile
    loaded.value = true;
    loadError.value = "";
    ++version.value;
  } catch (error) {
    loadError.value = (error as Error).message;
    throw error;
  }
}

export function startFleet(): void {
  onCatchUp(load);
  onMessage((message) => {
    if (message.type === "task_update") put(message.data as unknown as Task);
  });
}
