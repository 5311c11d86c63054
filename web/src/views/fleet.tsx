// Every task as one live row.
import {signal, useComputed} from "@preact/signals";
import {useEffect, useMemo, useRef, useState} from "preact/hooks";
import type {Task} from "../api/types";
import {isTerminal} from "../model/fold";
import {fleetRows, titleOf, tokensOf, type FleetRow} from "../model/fleet_rows";
import {cost, count, duration, kUnpriced, midnightOf} from "../model/format";
import {Guard} from "../parts/guard";
import {Notice} from "../parts/notice";
import {Sparkline} from "../parts/sparkline";
import {StateMark} from "../parts/state_mark";
import {Name, Words} from "../parts/text";
import {VirtualList, type Place} from "../parts/virtual_list";
import {activity, findBeyond, loaded, loadError, loadOlder, olderFrom, tasks} from "../state/fleet";
import {addKeys} from "../state/keys";
import {live} from "../state/live";
import {now} from "../state/now";
import {wantRecent} from "../state/recent";
import {change, go, href, params, taskHref} from "../state/route";
import {mayCommand} from "../state/session";
import {Counters} from "./counters";
import {NeedsYou} from "./needs_you";

const chosen = signal("");  // a task's id
let left: {filter: string; place: Place | undefined} | undefined;  // the list's scroll position, to restore on return
const kFindPauseMs = 250;

const kStates = ["active", "ended", "running", "waiting_for_input", "queued", "paused", "interrupted", "completed", "failed", "timed_out", "cancelled"];

function elapsed(task: Task): string {
  const from = Date.parse(task.startedAt ?? task.createdAt);
  // The clock stops while the connection is down, because the state is unknown.
  const {state, since} = live.value;
  const known = state === "disconnected" || state === "ended" ? Math.min(now.value, since) : now.value;
  const to = task.completionTime ? Date.parse(task.completionTime) : known;
  return duration(Math.max(0, Math.floor((to - from) / 1000) * 1000)).replace(/^0 ms$/, "0 s").replace(".0 s", " s");
}

function TaskRow({task, isChosen}: {task: Task; isChosen: boolean}) {
  const state = task.status?.state ?? "queued";
  const asks = (task.approvals?.length ?? 0) > 0;
  const doing = asks ? task.approvals![0]!.summary ?? "" : isTerminal(state) ? task.status?.error || task.status?.message || "" : task.activity || task.status?.message || "";
  return (
    <a class={isChosen ? "fleet-row chosen" : "fleet-row"} href={taskHref(task.id, task.agent)} data-task={task.id}>
      <StateMark state={state} />
      <span class="title"><Name text={titleOf(task)} most={64} /></span>
      <span class="agent"><Name text={[task.agent || "external", task.model].filter(Boolean).join(" · ")} most={40} /></span>
      <span class={asks ? "doing asks" : "doing"}><Words text={doing} /></span>
      <Sparkline counts={activity.counts(task.id, now.value)} />
      <span class="number elapsed">{elapsed(task)}</span>
      <span class="number tokens">{tokensOf(task) > 0 ? count(tokensOf(task)) : ""}</span>
      <span class="number cost" title={task.usage?.unpriced ? kUnpriced : undefined}>{task.usage?.costUSD || task.usage?.unpriced ? cost(task.usage) : ""}</span>
    </a>
  );
}

function Head() {
  return (
    <div class="fleet-row fleet-head">
      <span>state</span><span class="title">task</span><span class="agent">agent · model</span><span class="doing">doing now</span>
      <span class="spark">5 min</span><span class="number elapsed">elapsed</span><span class="number tokens">tokens</span><span class="number cost">cost</span>
    </div>
  );
}

// The number of tasks, and a note if not all are loaded.
function Known({shown, all}: {shown: number; all: number}) {
  const [said, setSaid] = useState("");
  const rest = olderFrom.value !== "";
  const words = `${shown === all ? all : `${shown} of ${all}`} tasks`;
  const older = async () => {
    setSaid("reading …");
    await loadOlder().then(() => setSaid(""), (error: unknown) => setSaid((error as Error).message));
  };
  return (
    <>
      <span class="quiet number" role="status">{words}{rest && ": the newest and all that are active"}{said && ` · ${said}`}</span>
      {rest && <button type="button" onClick={() => void older()}>Load older</button>}
    </>
  );
}

function Filters({agents, shown, all}: {agents: string[]; shown: number; all: number}) {
  const value = (name: string) => params.value.get(name) ?? "";
  const choice = (name: string, label: string, none: string, options: string[]) => (
    <select aria-label={label} value={value(name)} onChange={(input) => change({[name]: input.currentTarget.value})}>
      <option value="">{none}</option>
      {options.map((option) => <option key={option} value={option}>{option.replaceAll("_", " ")}</option>)}
    </select>
  );
  return (
    <form class="filters" role="search" onSubmit={(submit) => submit.preventDefault()}>
      <input type="search" data-find aria-label="Filter tasks" placeholder="filter  ( / )" value={value("text")} onInput={(input) => change({text: input.currentTarget.value})} />
      {choice("state", "State", "any state", kStates)}
      {choice("agent", "Agent", "any agent", agents)}
      {choice("ended", "Ended", "whenever it ended", ["today"])}
      {choice("group", "Group by", "no groups", ["agent", "workflow", "state"])}
      <Known shown={shown} all={all} />
    </form>
  );
}

export function Fleet() {
  const list = useRef<VirtualList>(null);
  const all = tasks.value;
  const filter = {state: params.value.get("state") ?? "", agent: params.value.get("agent") ?? "", text: params.value.get("text") ?? "", group: params.value.get("group") ?? "", ended: params.value.get("ended") ?? ""};
  const today = useComputed(() => midnightOf(now.value)).value;
  const rows = useMemo<FleetRow[]>(() => fleetRows(all, filter, now.peek()), [all, filter.state, filter.agent, filter.text, filter.group, filter.ended, today]);
  const agents = useMemo(() => [...new Set(all.map((task) => task.agent || "external"))].sort(), [all]);
  const asked = JSON.stringify(filter);
  const current = useRef(rows);
  current.current = rows;

  useEffect(() => {
    const move = (by: number) => {
      const last = current.current.length - 1;
      const from = current.current.findIndex((row) => row.kind === "task" && row.task.id === chosen.value);
      let next = Math.max(0, Math.min(last, from + by));
      while (current.current[next]?.kind === "group" && next + by >= 0 && next + by <= last) next += by;
      const row = current.current[next];
      if (row?.kind !== "task") return;
      chosen.value = row.task.id;
      list.current?.show(next);
    };
    return addKeys([
      {key: "j", does: "next task", act: () => move(1)},
      {key: "k", does: "task before", act: () => move(-1)},
      {key: "Enter", does: "open the task", act: () => {
        const found = current.current.find((row) => row.kind === "task" && row.task.id === chosen.value);
        if (found?.kind === "task") go(taskHref(found.task.id, found.task.agent));
      }},
    ]);
  }, []);

  // Not every task is loaded, so the filter also searches the server.
  const beyond = olderFrom.value !== "" && (filter.text !== "" || filter.state !== "" || filter.agent !== "");
  useEffect(() => {
    if (!beyond) return;
    const timer = setTimeout(() => void findBeyond(filter).catch(() => {}), kFindPauseMs);
    return () => clearTimeout(timer);
  }, [beyond, filter.text, filter.state, filter.agent, filter.ended]);

  const shown = rows.filter((row) => row.kind === "task").length;
  return (
    <div class="fleet">
      <h1 class="hidden">Fleet</h1>
      <Guard what="part"><Counters /></Guard>
      <Guard what="part"><NeedsYou /></Guard>
      <Filters agents={agents} shown={shown} all={all.length} />
      {!loaded.value ? (
        <Notice title={loadError.value ? "The tasks could not be read" : "Reading the fleet …"} busy={!loadError.value}>{loadError.value}</Notice>
      ) : rows.length === 0 ? (
        all.length === 0 ? (
          <Notice title="No tasks yet">
            <p>Start one here{mayCommand() && <>: <a href={href({view: "new"})}>New task</a></>}, or from a terminal:</p>
            <pre>shepherd run "fix the failing test"</pre>
            <p>To see it all move without an agent of your own:</p><pre>shepherd demo</pre>
          </Notice>
        ) : <Notice title="No task matches"><a href="/">Show all {all.length}</a></Notice>
      ) : (
        <div class="fleet-list">
          <Head />
          <VirtualList ref={list} count={rows.length} guess={34} label="Tasks" start={left?.filter === asked ? left.place : undefined} onPlace={(place) => { left = {filter: asked, place}; }}
                       onRange={(first, last) => wantRecent(current.current.slice(first, last + 1).flatMap((row) => (row.kind === "task" ? [row.task] : [])))}
                       keyOf={(index) => { const row = rows[index]!; return row.kind === "task" ? row.task.id : `# ${row.name}`; }}
                       row={(index) => {
                         const row = rows[index]!;
                         return row.kind === "task" ? <Guard what="task" record={row.task}><TaskRow task={row.task} isChosen={row.task.id === chosen.value} /></Guard>
                           : <h2 class="group"><Words text={row.name} /> <span class="number quiet">{row.count}</span></h2>;
                       }} />
        </div>
      )}
    </div>
  );
}
