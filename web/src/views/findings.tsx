// What agents found, across tasks, the worst first to be filtered for.
import {useEffect, useState} from "preact/hooks";
import {api, ApiError} from "../api/client";
import type {Finding, Findings as Answer} from "../api/contract";
import {dayAndTime} from "../model/format";
import {Notice} from "../parts/notice";
import {kSeverities, Severity} from "../parts/severity";
import {Name, Words} from "../parts/text";
import {now} from "../state/now";
import {change, href, params} from "../state/route";

export function Findings() {
  const severity = params.value.get("severity") ?? "";
  const [items, setItems] = useState<Finding[] | null>(null);
  const [next, setNext] = useState("");
  const [error, setError] = useState<{text: string; missing: boolean}>({text: "", missing: false});
  const read = (after: string) => api.get<Answer>("/findings", {severity, after}).then(
    (answer) => {
      setItems((old) => (after ? [...(old ?? []), ...answer.items] : answer.items));
      setNext(answer.next ?? "");
    },
    (failure: unknown) => setError({text: (failure as Error).message, missing: failure instanceof ApiError && failure.isMissing}));
  useEffect(() => { setItems(null); void read(""); }, [severity]);
  return (
    <div class="findings">
      <header class="view-head">
        <h1>Findings</h1>
        <select aria-label="Severity" value={severity} onChange={(input) => change({severity: input.currentTarget.value})}>
          <option value="">any severity</option>
          {kSeverities.map((each) => <option key={each} value={each}>{each}</option>)}
        </select>
      </header>
      {error.missing ? <Notice title="This server does not collect findings">It is older than this page.</Notice>
        : error.text ? <Notice title="The findings could not be read">{error.text}</Notice>
          : !items ? <Notice title="Reading …" busy />
            : items.length === 0 ? <Notice title={severity ? `No ${severity} findings` : "No findings"}>Agents that report findings show up here.</Notice> : (
              <ul class="results">
                {items.map((item) => (
                  <li key={`${item.taskID}/${item.sequence}`}>
                    <a href={href({task: item.taskID, at: item.sequence})}>
                      <span class="result-head"><Severity name={item.severity} /> <Words text={item.summary} /></span>
                      <span class="snippet quiet"><Name text={item.title || item.taskID} most={60} /> · <Words text={item.category ?? ""} /> <span class="number">{dayAndTime(item.at, now.value)}</span></span>
                    </a>
                  </li>))}
              </ul>
            )}
      {next && <button type="button" class="more" onClick={() => void read(next)}>More</button>}
    </div>
  );
}
