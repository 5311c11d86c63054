// Full-text search over all logs, one click from the moment; or the tasks that were active in a time range.
import {api} from "../api/client";
import type {SearchResults, Task} from "../api/types";
import {titleOf} from "../model/fleet_rows";
import {cost, dayAndTime} from "../model/format";
import {markedPieces} from "../model/marked";
import {Failed, Notice} from "../parts/notice";
import {StateMark} from "../parts/state_mark";
import {Name, Words} from "../parts/text";
import {now} from "../state/now";
import {taskRow} from "../state/fleet";
import {useResource, type Read} from "../state/resource";
import {change, params, taskHref} from "../state/route";

const kPauseMs = 200;
const kLimit = 100;

function Snippet({text, query}: {text: string; query: string}) {
  return <>{markedPieces(text, query).map((part, index) => (index % 2 === 1 ? <mark key={index}><Words text={part} /></mark> : <Words key={index} text={part} />))}</>;
}

// All pages that were read, merged, and the cursor to the next.
interface Found {
  pages: SearchResults;
  next: string;
}

async function searched(q: string, signal: AbortSignal, old?: Found): Promise<Found> {
  const {value, next} = await api.search(q, kLimit, old?.next, signal);
  return {pages: {...value, results: [...(old?.pages.results ?? []), ...value.results]}, next};
}

async function tasksBetween(from: string, to: string, signal: AbortSignal, old?: {tasks: Task[]; next: string}): Promise<{tasks: Task[]; next: string}> {
  const {value, next} = await api.tasks({from, to, limit: kLimit, before: old?.next}, signal);
  return {tasks: [...(old?.tasks ?? []), ...value], next};
}

function More({state, onMore}: {state: Read<{next: string}>; onMore: () => void}) {
  return (
    <>
      {state.value && state.error && <p class="bad page-on" role="alert">{state.error}</p>}
      {state.value?.next && <p class="page-on"><button type="button" disabled={state.busy} onClick={onMore}>More</button></p>}
    </>
  );
}

function RangeTasks({from, to}: {from: string; to: string}) {
  const found = useResource<{tasks: Task[]; next: string}>(`${from} ${to}`, (signal) => tasksBetween(from, to, signal));
  const state = found.state.value;
  const tasks = state.value?.tasks;
  return (
    <>
      <h2 class="range">Tasks with events from {dayAndTime(from, now.value)} to {dayAndTime(to, now.value)}</h2>
      {!tasks ? (state.error ? <Failed title="The tasks could not be read" why={state.error} again={() => found.retry()} /> : <Notice title="Reading …" busy />) : tasks.length === 0 ? <Notice title="None" /> : (
        <ul class="results range-tasks">{tasks.map((task) => (
          <li key={task.id}><a href={taskHref(task.id, task.agent)}><StateMark state={task.status?.state ?? "queued"} /> <Name text={titleOf(task)} most={70} />
            <span class="quiet"><Name text={[task.agent || "external", task.model].filter(Boolean).join(" · ")} most={40} /></span>
            <span class="number">{task.usage?.costUSD || task.usage?.unpriced ? cost(task.usage) : ""}</span></a></li>))}</ul>
      )}
      <More state={state} onMore={() => found.extend((signal, old) => tasksBetween(from, to, signal, old))} />
    </>
  );
}

export function Search() {
  const q = params.value.get("q") ?? "";
  const [from, to] = [params.value.get("from") ?? "", params.value.get("to") ?? ""];
  const answer = useResource<Found>(q || null, (signal) => searched(q, signal), {pauseMs: kPauseMs, keeps: true});
  const state = answer.state.value;
  const found = q ? state.value?.pages : undefined;
  return (
    <div class="search">
      <header class="view-head">
        <h1>Search</h1>
        <input type="search" data-find class="grow" autofocus aria-label="Search all logs" placeholder='words, "a phrase", prefix*, OR, -without' value={q}
               onInput={(input) => change({q: input.currentTarget.value, from: undefined, to: undefined})} />
      </header>
      {!q && from && <RangeTasks from={from} to={to} />}
      {!q && !from && <Notice title="Search all logs">Finds what agents said, ran, read or broke. A result opens the log at that moment.</Notice>}
      {q && !found && state.error && <Failed title="The search failed" why={state.error} again={() => answer.retry()} />}
      {q && !found && !state.error && <Notice title="Searching …" busy />}
      {found && found.results.length === 0 && <Notice title="Nothing found" />}
      {found && found.indexedThrough < found.head && <p class="missing" role="status">The newest {found.head - found.indexedThrough} events are not searched yet.</p>}
      {found && found.results.length > 0 && (
        <ol class="results" aria-label="Results">
          {found.results.map((result) => {
            const task = taskRow(result.taskID);
            return (
              <li key={`${result.taskID}/${result.sequence}`}>
                <a href={taskHref(result.taskID, task?.agent, result.sequence)}>
                  <span class="result-head"><b><Name text={task ? titleOf(task) : result.taskID} most={60} /></b> <span class="quiet"><Words text={result.type.replace("_", " ")} /></span> <span class="number quiet">{dayAndTime(result.timestamp, now.value)}</span></span>
                  <span class="snippet"><Snippet text={result.snippet || result.summary} query={q} /></span>
                </a>
              </li>
            );
          })}
        </ol>
      )}
      {found && <More state={state} onMore={() => answer.extend((signal, old) => searched(q, signal, old))} />}
    </div>
  );
}
