// Full text over all logs, one click to the moment; or the tasks that did something in a range of time.
import {useEffect, useState} from "preact/hooks";
import {api} from "../api/client";
import type {SearchResults, Task} from "../api/types";
import {titleOf} from "../model/fleet_rows";
import {dayAndTime} from "../model/format";
import {Notice} from "../parts/notice";
import {StateMark} from "../parts/state_mark";
import {Name, Words} from "../parts/text";
import {now} from "../state/now";
import {taskRow} from "../state/fleet";
import {change, href, params} from "../state/route";

const kPauseMs = 200;
const kLimit = 100;

// The words that matched, marked. The server encloses them in its own marks, which are text here like everything else.
function Snippet({text, query}: {text: string; query: string}) {
  const words = query.toLowerCase().match(/[\p{L}\p{N}_.]+/gu)?.filter((word) => word.length > 1 && word !== "or") ?? [];
  if (words.length === 0) return <Words text={text} />;
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "giu");
  return <>{text.split(pattern).map((part, index) => (index % 2 === 1 ? <mark key={index}><Words text={part} /></mark> : <Words key={index} text={part} />))}</>;
}

function useResults(q: string): {found: SearchResults | null; error: string} {
  const [state, setState] = useState<{found: SearchResults | null; error: string}>({found: null, error: ""});
  useEffect(() => {
    if (!q) {
      setState({found: null, error: ""});
      return;
    }
    let given = true;
    const timer = setTimeout(() => api.search(q, kLimit).then(
      (found) => { if (given) setState({found, error: ""}); },
      (error: unknown) => { if (given) setState({found: null, error: (error as Error).message}); }), kPauseMs);
    return () => { given = false; clearTimeout(timer); };
  }, [q]);
  return state;
}

function RangeTasks({from, to}: {from: string; to: string}) {
  const [tasks, setTasks] = useState<Task[] | null>(null);
  const [error, setError] = useState("");
  useEffect(() => { api.tasks({from, to, limit: 500}).then(setTasks, (failure: unknown) => setError((failure as Error).message)); }, [from, to]);
  return (
    <>
      <h2>Tasks with events from {dayAndTime(from, now.value)} to {dayAndTime(to, now.value)}</h2>
      {error ? <Notice title="They could not be read">{error}</Notice> : !tasks ? <Notice title="Reading …" busy /> : tasks.length === 0 ? <Notice title="None" /> : (
        <ul class="results">{tasks.map((task) => (
          <li key={task.id}><a href={href({task: task.id})}><StateMark state={task.status?.state ?? "queued"} /> <Name text={titleOf(task)} most={80} /></a></li>))}</ul>
      )}
    </>
  );
}

export function Search() {
  const q = params.value.get("q") ?? "";
  const [from, to] = [params.value.get("from") ?? "", params.value.get("to") ?? ""];
  const {found, error} = useResults(q);
  return (
    <div class="search">
      <header class="view-head">
        <h1>Search</h1>
        <input type="search" data-find class="grow" autofocus aria-label="Search all logs" placeholder='words, "a phrase", prefix*, OR, -without' value={q}
               onInput={(input) => change({q: input.currentTarget.value, from: undefined, to: undefined})} />
      </header>
      {!q && from && <RangeTasks from={from} to={to} />}
      {!q && !from && <Notice title="Every word of every log">What an agent said, ran, read or broke. A result opens at its moment.</Notice>}
      {q && error && <Notice title="The search did not work">{error}</Notice>}
      {q && !error && !found && <Notice title="Searching …" busy />}
      {found && found.results.length === 0 && <Notice title="Nothing found" />}
      {found && found.indexedThrough < found.head && <p class="missing" role="status">The newest {found.head - found.indexedThrough} events are not searched yet.</p>}
      {found && found.results.length > 0 && (
        <ol class="results" aria-label="Results">
          {found.results.map((result) => {
            const task = taskRow(result.taskID);
            return (
              <li key={`${result.taskID}/${result.sequence}`}>
                <a href={href({task: result.taskID, at: result.sequence})}>
                  <span class="result-head"><b><Name text={task ? titleOf(task) : result.taskID} most={60} /></b> <span class="quiet"><Words text={result.type.replace("_", " ")} /></span> <span class="number quiet">{dayAndTime(result.timestamp, now.value)}</span></span>
                  <span class="snippet"><Snippet text={result.snippet || result.summary} query={q} /></span>
                </a>
              </li>
            );
          })}
        </ol>
      )}
    </div>
  );
}
