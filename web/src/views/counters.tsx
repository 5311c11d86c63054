// Four numbers for the day.
import {useEffect} from "preact/hooks";
import {signal} from "@preact/signals";
import {api, ApiError} from "../api/client";
import type {Stats} from "../api/contract";
import {money} from "../model/format";
import {inbox, inboxRead} from "../state/inbox";
import {live} from "../state/live";
import {href} from "../state/route";
import {tasks} from "../state/fleet";

const kEveryMs = 10_000;
const today = signal<Stats | null>(null);
const missing = signal(false);

function midnight(): string {
  const date = new Date();
  date.setHours(0, 0, 0, 0);
  return date.toISOString();
}

async function read(): Promise<void> {
  try {
    today.value = await api.get<Stats>("/stats", {from: midnight(), step: 86_400, by: "none"});
    missing.value = false;
  } catch (error) {
    if (error instanceof ApiError && error.isMissing) missing.value = true;
  }
}

function Counter({name, value, to}: {name: string; value: string; to: string}) {
  return <a class="counter" href={to}><span class="number">{value}</span> <span class="quiet">{name}</span></a>;
}

export function Counters() {
  useEffect(() => {
    void read();
    const timer = setInterval(() => { if (!document.hidden) void read(); }, kEveryMs);
    return () => clearInterval(timer);
  }, [live.value.state === "live"]);
  const rows = tasks.value;
  const inState = (...states: string[]) => rows.filter((task) => states.includes(task.status?.state ?? "")).length;
  const stats = today.value;
  return (
    <div class="counters" aria-label="Today">
      <Counter name="running" value={String(stats?.now.running ?? inState("running", "starting"))} to={href({state: "running"})} />
      <Counter name="waiting" value={String(stats?.now.waiting ?? inState("waiting_for_input"))} to={href({state: "waiting_for_input"})} />
      <Counter name="queued" value={String(stats?.now.queued ?? inState("queued"))} to={href({state: "queued"})} />
      {stats && <Counter name="failed today" value={String(stats.totals.failed)} to={href({state: "failed"})} />}
      {stats && <Counter name="spent today" value={money(stats.totals.costUSD)} to={href({view: "metrics"})} />}
      {missing.value && <span class="missing">this server keeps no daily totals</span>}
      {inboxRead.value && inbox.value.total === 0 && <span class="calm">nothing needs you</span>}
    </div>
  );
}
