// Full-text search over all logs, one click from the moment; or the tasks that were active in a time range.
import {useEffect, useState} from "preact/hooks";
import {api} from "../api/client";
import type {SearchResults, Task} from "../api/types";
import {titleOf} from "../model/fleet_rows";
import {cost, dayAndTime} from "../model/format";
import {markedPieces} from "../model/marked";
import {Notice} from "../parts/notice";
import {StateMark} from "../parts/state_mark";
import {Name, Words} from "../parts/text";
import {now} from "../state/now";
import {taskRow} from "../state/fleet";
import {change, params, taskHref} from "../state/route";

const kPauseMs = 200;
const kLimit = 100;

function Snippet({text, query}: {text: string; query: string}) {
  return <>{markedPieces(text, query).map((part, index) => (index % 2 === 1 ? <mark key={index}><Words text={part} /></mark> : <Words key={index} text={part} />))}</>;
}

interface Found {
  pages: SearchResults | null;  // all pages that were read, merged
  next: string;
  error: string;
}
const kNone: Found = {pages: null, next: "", error: ""};

function useResults(q: string): Found & {more: () => void} {
  const [state, setState] = useState<Found>(kNone);
  useEffect(() => {
    if (!q) {
      setState(kNone);
      return;
    }
    let given = true;
    const timer = setTimeout(() => api.search(q, kLimit).then(
      (found) => { if (given) setState({pages: found.value, next: found.next, error: ""}); },
      (error: unknown) => { if (given) setState({...kNone, error: (error as Error).message}); }), kPauseMs);
    return () => { given = false; clearTimeout(timer); };
  }, [q]);
  const more = () => void api.search(q, kLimit, state.next).then(
    (found) => setState((old) => ({pages: {...found.value, results: [...(old.pages?.results ?? []), ...found.value.results]}, next: found.next, error: ""})),
    (error: unknown) => setState((old) => ({...old, error: (error as Error).message})));
  return {...state, more};
}

function RangeTasks({from, to}: {from: string; to: string}) {
  const [tasks, setTasks] = useState<Task[] | null>(null);
  const [next, setNext] = useState("");
  const [error, setError] = useState("");
  const read = (before: string) => api.tasks({from, to, limit: kLimit, before}).then(
    (page) => { setTasks((old) => (before ? [...(old ?? []), ...page.value] : page.value)); setNext(page.next); },
    (failure: unknown) => setError((failure as Error).message));
  useEffect(() => { setTasks(null); void read(""); }, [from, to]);
  return (
    <>
      <h2 class="range">Tasks with events from {dayAndTime(from, now.value)} to {dayAndTime(to, now.value)}</h2>
      {error ? <Notice title="The tasks could not be read">{error}</Notice> : !tasks ? <Notice title="Reading …" busy /> : tasks.length === 0 ? <Notice title="None" /> : (
        <ul class="results range-tasks">{tasks.map((task) => (
          <li key={task.id}><a href={taskHref(task.id, task.agent)}><StateMark state={task.status?.state ?? "queued"} /> <Name text={titleOf(task)} most={70} />
            <span class="quiet"><Name text={[task.agent || "external", task.model].filter(Boolean).join(" · ")} most={40} /></span>
            <span class="number">{task.usage?.costUSD || task.usage?.unpriced ? cost(task.usage) : ""}</span></a></li>))}</ul>
      )}
      {next && <p class="page-on"><button type="button" onClick={() => void read(next)}>More</button></p>}
    </>
  );
}

export function Search() {
  const q = params.value.get("q") ?? "";
  const [from, to] = [params.value.get("from") ?? "", params.value.get("to") ?? ""];
  const {pages: found, next, error, more} = useResults(q);
  return (
    <div class="search">
      <header class="view-head">
        <h1>Search</h1>
        <input type="search" data-find class="grow" autofocus aria-label="Search all logs" placeholder='words, "a phrase", prefix*, OR, -without' value={q}
               onInput={(input) => change({q: input.currentTarget.value, from: undefined, to: undefined})} />
      </header>
      {!q && from && <RangeTasks from={from} to={to} />}
      {!q && !from && <Notice title="Search all logs">Finds what agents said, ran, read or broke. A result opens the log at that moment.</Notice>}
      {q && error && <Notice title="The search failed">{error}</Notice>}
      {q && !error && !found && <Notice title="Searching …" busy />}
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
      {next && <p class="page-on"><button type="button" onClick={more}>More</button></p>}
    </div>
  );
}
