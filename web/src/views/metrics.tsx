// Spend, tokens, running tasks, events and tools over a range. Each point opens its tasks.
import {useEffect} from "preact/hooks";
import {api} from "../api/client";
import type {Stats, StatsPoint} from "../api/contract";
import {count, duration, midnightOf, money} from "../model/format";
import {plainLine} from "../model/hidden";
import {kRanges, kToday, kUsual, kWidest, rangeHolding, rangeOf, rangeReaching, type Range} from "../model/stats_range";
import {Chart, type Line} from "../parts/chart";
import {Failed, Notice} from "../parts/notice";
import {Name} from "../parts/text";
import {useResource, type Resource} from "../state/resource";
import {change, go, href, params} from "../state/route";
import {mayCommand} from "../state/session";

const kPoints = 120;
const kEveryMs = 15_000;
const kLookStep = 300;  // fine enough to tell a first-time user's minutes from an hour
const kAgainMs = 500;   // pause before the next look, if the server is still computing

// Round steps, so that points are at whole minutes and hours.
function stepFor(seconds: number): number {
  return [60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 86_400].find((step) => seconds / step <= kPoints) ?? 86_400;
}

function rangeStart(from: string, seconds: number): string {
  if (from === kToday) return new Date(midnightOf(Date.now())).toISOString();
  return from.endsWith("d") ? new Date(Date.now() - seconds * 1000).toISOString() : from;
}

function lines(stats: Stats, value: (point: StatsPoint) => number): Line[] {
  return stats.series.map((series) => ({name: plainLine(series.key) || (stats.by === "none" ? "all" : stats.by === "agent" ? "external" : "model not said"), values: series.points.map(value)}));
}

async function momentsOf(range: Range, step: number): Promise<{moments: number[]; isAll: boolean}> {
  const stats = await api.get<Stats>("/stats", {from: rangeStart(range.from, range.seconds), step});
  const busy = stats.series.flatMap((series) => series.points).filter((point) => point.events > 0);
  return {moments: busy.map((point) => Date.parse(point.at)), isAll: stats.indexedThrough >= stats.head};
}

// Without a chosen range, picks one that has something to show. It goes into the address like any other.
function useChoice(chosen: boolean): void {
  useEffect(() => {
    if (chosen) return;
    const given = {up: false};
    const look = async (): Promise<void> => {
      const day = await momentsOf(kUsual, kLookStep);
      const month = day.moments.length > 0 ? null : await momentsOf(kWidest, stepFor(kWidest.seconds));
      if (given.up) return;
      if (month && !month.isAll) return void setTimeout(() => void look().catch(usual), kAgainMs);
      const range = month ? rangeReaching(month.moments, Date.now()) ?? kUsual : rangeHolding(day.moments, Date.now());
      change({from: range.from});
    };
    const usual = () => { if (!given.up) change({from: kUsual.from}); };  // the view's own request reports the error
    void look().catch(usual);
    return () => { given.up = true; };
  }, [chosen]);
}

function useStats(from: string | null, by: string): Resource<Stats> {
  const range = rangeOf(from ?? kUsual.from, Date.now());
  return useResource<Stats>(from === null ? null : `${from} ${by}`,
    (signal) => api.get<Stats>("/stats", {from: rangeStart(range.from, range.seconds), step: stepFor(range.seconds), by}, signal), {everyMs: kEveryMs, keeps: true});
}

function Tools({stats}: {stats: Stats}) {
  if (stats.tools.length === 0) return <p class="quiet">No tool was used.</p>;
  const most = Math.max(...stats.tools.map((tool) => tool.calls));
  return (
    <table class="tools">
      <thead><tr><th scope="col">tool</th><th scope="col" class="number">calls</th><th scope="col"><span class="hidden">share</span></th><th scope="col" class="number">failed</th><th scope="col" class="number">p50</th><th scope="col" class="number">p95</th></tr></thead>
      <tbody>
        {stats.tools.map((tool) => (
          <tr key={tool.tool}>
            <td><Name text={tool.tool} most={36} /></td><td class="number">{count(tool.calls)}</td>
            <td class="share"><meter min={0} max={most} value={tool.calls} aria-label={`${tool.calls} calls`} /></td>
            <td class="number">{tool.failures || ""}</td><td class="number">{tool.p50MS > 0 ? duration(tool.p50MS) : ""}</td><td class="number">{tool.p95MS > 0 ? duration(tool.p95MS) : ""}</td>
          </tr>))}
      </tbody>
    </table>
  );
}

function Nothing({range}: {range: Range}) {
  return (
    <Notice title={`Nothing happened in the ${range.words}`}>
      <p>Figures appear with the first step of a task.</p>
      <p class="actions">
        {range !== kWidest && <button type="button" onClick={() => change({from: kWidest.from})}>Look at the {kWidest.words}</button>}
        {mayCommand() && <a class="button" href={href({view: "new"})}>Start a task</a>}
      </p>
    </Notice>
  );
}

export function Metrics() {
  const from = params.value.get("from");
  const range = rangeOf(from ?? kUsual.from, Date.now());
  const by = params.value.get("by") ?? "none";
  useChoice(from !== null);
  const read = useStats(from, by);
  const {value: stats, error, missing} = read.state.value;
  const times = stats?.series[0]?.points.map((point) => Date.parse(point.at) / 1000) ?? [];
  // The tasks of a point are those with an event in its step.
  const open = (index: number) => {
    if (!stats || times[index] === undefined) return;
    const start = times[index] * 1000;
    go({view: "search", from: new Date(start).toISOString(), to: new Date(start + stats.stepSeconds * 1000).toISOString()});
  };
  const totals = stats?.totals;
  return (
    <div class="metrics">
      <header class="view-head">
        <h1>Metrics</h1>
        <select aria-label="Range" value={range.from} onChange={(input) => change({from: input.currentTarget.value})}>
          <option value={kToday}>today</option>
          {kRanges.map((each) => <option key={each.from} value={each.from}>{each.words}</option>)}
        </select>
        <select aria-label="By" value={by} onChange={(input) => change({by: input.currentTarget.value})}>
          <option value="none">all together</option><option value="agent">by agent</option><option value="model">by model</option>
        </select>
        {stats && stats.indexedThrough < stats.head && <p class="missing" role="status">still adding up: the newest {count(stats.head - stats.indexedThrough)} events are missing</p>}
        {stats && error && <p class="bad" role="status">not up to date: {error}</p>}
        {totals && <p class="totals number">{money(totals.costUSD)} · {count(totals.events)} events · {count(totals.errors)} errors · {totals.tasks} tasks, {totals.failed} failed</p>}
      </header>
      {missing ? <Notice title="This server keeps no statistics">It is older than this page.</Notice>
        : !stats ? (error ? <Failed title="The statistics could not be read" why={error} again={() => read.retry()} /> : <Notice title="Adding up …" busy />)
        : stats.totals.events === 0 && stats.indexedThrough >= stats.head ? <Nothing range={range} /> : (
          <div class="charts">
            <Chart title="Spend" whole="sum" unit={money} steps="cents" times={times} stepSeconds={stats.stepSeconds} lines={lines(stats, (point) => point.costUSD)} onPick={open} />
            {by === "none" ? (
              <Chart title="Tokens by class" whole="sum" unit={count} times={times} stepSeconds={stats.stepSeconds} onPick={open} lines={[
                {name: "input", values: sum(stats, (p) => p.tokens.input)}, {name: "output", values: sum(stats, (p) => p.tokens.output)},
                {name: "cache read", values: sum(stats, (p) => p.tokens.cacheRead)}, {name: "cache write", values: sum(stats, (p) => p.tokens.cacheWrite)}]} />
            ) : <Chart title="Tokens of all classes" whole="sum" unit={count} times={times} stepSeconds={stats.stepSeconds} onPick={open} lines={lines(stats, (p) => p.tokens.input + p.tokens.output + p.tokens.cacheRead + p.tokens.cacheWrite)} />}
            <Chart title="Running tasks" whole="most" unit={count} times={times} stepSeconds={stats.stepSeconds} lines={lines(stats, (point) => point.running)} onPick={open} />
            <Chart title="Tool calls" whole="sum" unit={count} times={times} stepSeconds={stats.stepSeconds} lines={lines(stats, (point) => point.toolCalls)} onPick={open} />
            {by === "none" ? (
              <Chart title="Events and errors" whole="sum" unit={count} times={times} stepSeconds={stats.stepSeconds} onPick={open}
                     lines={[{name: "events", values: sum(stats, (p) => p.events)}, {name: "errors", values: sum(stats, (p) => p.errors)}]} />
            ) : (
              <>
                <Chart title="Events" whole="sum" unit={count} times={times} stepSeconds={stats.stepSeconds} onPick={open} lines={lines(stats, (p) => p.events)} />
                <Chart title="Errors" whole="sum" unit={count} times={times} stepSeconds={stats.stepSeconds} onPick={open} lines={lines(stats, (p) => p.errors)} />
              </>
            )}
            <section class="chart-card"><h2>Tools</h2><Tools stats={stats} /></section>
          </div>
        )}
    </div>
  );
}

function sum(stats: Stats, value: (point: StatsPoint) => number): number[] {
  const first = stats.series[0];
  return first ? first.points.map((_, index) => stats.series.reduce((total, series) => total + (series.points[index] ? value(series.points[index]) : 0), 0)) : [];
}
