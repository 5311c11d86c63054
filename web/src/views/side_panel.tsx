// The task in numbers, now or at the viewed moment.
import {useEffect} from "preact/hooks";
import type {Task} from "../api/types";
import {tokensOf} from "../model/fleet_rows";
import {isTerminal} from "../model/fold";
import {cost, count, dayAndTime, duration, kUnpriced} from "../model/format";
import {textOf} from "../model/shape";
import {StateMark} from "../parts/state_mark";
import {Name, Words} from "../parts/text";
import {cameToNothing, explained} from "../state/commands";
import {useResource} from "../state/resource";
import {href} from "../state/route";
import {now} from "../state/now";
import {stateAt, type Moment} from "../state/moment";
import type {TaskView} from "../state/task_view";
import {useMode} from "./use_mode";

const kPauseMs = 40;  // stepping quickly reads where it ends
const kMostFiles = 40;
const kMostCommands = 12;
const kConfined: Record<string, string> = {
  none: "The agent's processes can reach everything that the runner's user can.",
  secrets: "The agent cannot read Shepherd's own files, tokens and processes, nor other tasks' work.",
  workspace: "As secrets; and it can write nothing but its work tree, its own state and a temporary directory.",
};

// Says what is counted, if that is not everything.
function Counted({view, moment}: {view: TaskView; moment: number | undefined}) {
  const {tools} = view;
  const isPart = tools.use.from > view.log.first;
  // The figures at a moment need all events before it.
  useEffect(() => { if (moment !== undefined && isPart) void tools.readAll().catch(() => {}); }, [tools, moment === undefined, isPart]);
  if (!isPart) return null;
  return (
    <p class="quiet counted">since event <span class="number">{tools.use.from}</span>{" "}
      {tools.reading.value ? "· counting …" : <button type="button" class="more" onClick={() => void tools.readAll().catch(() => {})}>count all</button>}</p>
  );
}

function useMoment(view: TaskView, task: Task, moment: number | undefined): Moment {
  const past = useResource<Moment>(moment === undefined ? null : `${view.id}/${moment}`, (signal) => stateAt(view, moment!, signal), {pauseMs: kPauseMs, keeps: true}).state.value;
  if (moment !== undefined && past.value) return past.error ? {...past.value, missing: `(the state at this event could not be read: ${past.error})`} : past.value;
  return {task, sequence: task.lastSequence, missing: ""};
}

function Line({name, children}: {name: string; children: preact.ComponentChildren}) {
  return <div><dt>{name}</dt><dd>{children}</dd></div>;
}

export function SidePanel({view, task, moment, version}: {view: TaskView; task: Task; moment: number | undefined; version: number}) {
  void version;
  void view.tools.version.value;
  const tools = view.tools.use;
  const shown = useMoment(view, task, moment);
  const then = shown.task;
  const usage = then.usage ?? {};
  const until = moment ?? Infinity;
  const session = textOf(then, "sessionID") || textOf(task, "sessionID");
  const mode = useMode(view, then);
  const confined = textOf(then, "confined") || textOf(task, "confined");
  const files = tools.files(until);
  const lines = tools.tools(until);
  const commands = (then.commands ?? []).slice().reverse();
  return (
    <aside class="side" aria-label={moment === undefined ? "Details" : `Details at event ${moment}`}>
      {moment !== undefined && <p class="at-moment">at event <span class="number">{moment}</span> {shown.missing}</p>}
      <dl class="facts">
        <Line name="state"><StateMark state={then.status?.state ?? "queued"} /></Line>
        <Line name="agent"><Name text={task.agent || "external"} most={28} /></Line>
        <Line name="model"><Name text={then.model || "not said"} most={28} /></Line>
        {session && <Line name="session"><code><Name text={session} most={18} /></code></Line>}
        {mode && <Line name="mode"><Words text={mode} /></Line>}
        {confined && <Line name="confined"><span class={confined === "none" ? "bad" : ""} title={kConfined[confined]}><Words text={confined} /></span></Line>}
        <Line name="created">{dayAndTime(task.createdAt, now.value)}</Line>
        <Line name="task"><code><Name text={task.id} most={24} /></code></Line>
      </dl>
      <h2>Use</h2>
      {tokensOf(then) || usage.turns || usage.costUSD ? (
        <dl class="facts numbers">
          <Line name="cost">{usage.unpriced ? <span title={kUnpriced}>{cost(usage)}</span> : cost(usage)}</Line>
          <Line name="tokens">{count(tokensOf(then))}</Line>
          <Line name="turns">{usage.turns ?? 0}</Line>
          <Line name="input">{count(usage.inputTokens ?? 0)}</Line>
          <Line name="output">{count(usage.outputTokens ?? 0)}</Line>
          <Line name="cache read">{count(usage.cacheReadTokens ?? 0)}</Line>
          <Line name="cache write">{count(usage.cacheWriteTokens ?? 0)}</Line>
        </dl>
      ) : <p class="quiet">{isTerminal(then.status?.state ?? "queued") ? "not reported" : "nothing reported yet"}</p>}
      {(then.errors ?? 0) > 0 && <dl class="facts numbers"><Line name="errors"><span class="bad">{then.errors}</span></Line></dl>}
      <h2>Tools</h2>
      <Counted view={view} moment={moment} />
      {lines.length === 0 ? <p class="quiet">none used</p> : (
        <table>
          <thead><tr><th scope="col">tool</th><th scope="col" class="number">calls</th><th scope="col" class="number">failed</th><th scope="col" class="number">median</th></tr></thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.tool}><td><Name text={line.tool} most={18} /></td><td class="number">{line.calls}</td><td class="number">{line.failures || ""}</td><td class="number">{line.medianMS === undefined ? "" : duration(line.medianMS)}</td></tr>))}
          </tbody>
        </table>
      )}
      {files.length > 0 && (
        <>
          <h2>Files changed</h2>
          <ul class="files">{files.slice(0, kMostFiles).map((file) => <li key={file.path}><a href={href({task: task.id, at: file.last})}><Name text={file.path} most={32} /></a> <span class="number quiet">{file.changes}</span></li>)}</ul>
          {files.length > kMostFiles && <p class="quiet">and {files.length - kMostFiles} more</p>}
        </>
      )}
      {commands.length > 0 && (
        <>
          <h2>Commands</h2>
          <ul class="commands">
            {commands.slice(0, kMostCommands).map((command) => (
              <li key={command.id}><a href={href({task: task.id, at: command.sequence})}>{command.kind?.replace("_", " ")}</a> <span class="quiet"><Words text={command.by ?? ""} /></span><br />
                <span class={cameToNothing(command) ? "outcome bad" : "outcome"}>{explained(command.state ?? "", command.reason)}</span></li>))}
          </ul>
          {commands.length > kMostCommands && <p class="quiet">and {commands.length - kMostCommands} before</p>}
        </>
      )}
    </aside>
  );
}
