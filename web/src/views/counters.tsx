// The day in numbers. Each leads to what it counts.
import {useComputed} from "@preact/signals";
import {useEffect} from "preact/hooks";
import {api} from "../api/client";
import type {Stats} from "../api/contract";
import {countersOf} from "../model/counters";
import {midnightOf, money} from "../model/format";
import {inbox, inboxRead} from "../state/inbox";
import {live} from "../state/live";
import {now} from "../state/now";
import {useResource} from "../state/resource";
import {href} from "../state/route";
import {findBeyond, olderFrom, tasks} from "../state/fleet";

const kEveryMs = 10_000;
const kDaySeconds = 86_400;

function Counter({name, value, to}: {name: string; value: string; to: string}) {
  return <a class="counter" href={to}><span class="number">{value}</span> <span class="quiet">{name}</span></a>;
}

export function Counters() {
  const isLive = live.value.state === "live";
  const today = useComputed(() => midnightOf(now.value)).value;
  const {value: stats, missing} = useResource<Stats>(`${today} ${isLive}`,
    (signal) => api.get<Stats>("/stats", {from: new Date(today).toISOString(), step: kDaySeconds, by: "none"}, signal), {everyMs: kEveryMs, keeps: true}).state.value;
  // What failed today may be older than the newest tasks.
  const isPart = olderFrom.value !== "";
  useEffect(() => {
    if (isPart) void findBeyond({text: "", state: "failed", agent: "", ended: "today"}).catch(() => {});
  }, [isPart, today, isLive]);
  return (
    <div class="counters" aria-label="Today">
      {countersOf(tasks.value, today).map((each) => <Counter key={each.name} name={each.name} value={String(each.value)} to={href(each.to)} />)}
      {stats && <Counter name="spent today" value={money(stats.totals.costUSD)} to={href({view: "metrics", from: "today"})} />}
      {missing && <span class="missing">this server keeps no daily totals</span>}
      {inboxRead.value && inbox.value.total === 0 && <span class="calm">nothing needs you</span>}
    </div>
  );
}
