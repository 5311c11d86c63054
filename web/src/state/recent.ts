// Reads the last minutes of each visible task once, so that a row has its sparkline from the beginning and not only
// from when the page was opened.
import {api} from "../api/client";
import type {Task} from "../api/types";
import {kSliceMs, kSlices} from "../model/activity";
import {isTerminal} from "../model/fold";
import {activity} from "./fleet";

const kEvents = 40;
const kAtOnce = 3;

const asked = new Set<string>();
const waiting: string[] = [];
let running = 0;

function next(): void {
  const id = waiting.pop();  // the task that came into view last goes first
  if (id === undefined) return;
  ++running;
  void api.events(id, {tail: kEvents}).then((page) => {
    activity.seed(id, page.events.map((event) => Date.parse(event.receivedAt)), Date.now());
  }, () => { asked.delete(id); }).finally(() => {
    --running;
    next();
  });
}

export function wantRecent(tasks: readonly Task[]): void {
  for (const task of tasks) {
    const age = Date.now() - Date.parse(task.lastEventAt ?? "");
    if (asked.has(task.id) || isTerminal(task.status?.state ?? "queued") || !(age < kSlices * kSliceMs)) continue;
    asked.add(task.id);
    waiting.push(task.id);
  }
  while (running < kAtOnce && waiting.length > 0) next();
}
