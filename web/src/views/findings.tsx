// Findings across tasks: the worst first, and within a severity the newest first.
import {api} from "../api/client";
import type {Finding, Findings as Answer} from "../api/contract";
import {textOf} from "../model/shape";
import {dayAndTime} from "../model/format";
import {Failed, Notice} from "../parts/notice";
import {kSeverities, Severity} from "../parts/severity";
import {Name, Words} from "../parts/text";
import {now} from "../state/now";
import {useResource, type Read} from "../state/resource";
import {change, href, params} from "../state/route";

interface Pages {
  items: Finding[];
  next: string;
}

async function read(severity: string, signal: AbortSignal, old?: Pages): Promise<Pages> {
  const answer = await api.get<Answer>("/findings", {severity, after: old?.next}, signal);
  const fresh = severity ? answer.items : answer.items.filter((item) => !kSeverities.includes(item.severity));
  return {items: [...(old?.items ?? []), ...fresh], next: answer.next ?? ""};
}

interface Section extends Read<Pages> {
  severity: string;
  more(): void;
  retry(): void;
}

// Findings of one severity, page by page. "" means an unknown severity; those are filtered from all findings.
function useFindings(severity: string): Section {
  const found = useResource<Pages>(`severity ${severity}`, (signal) => read(severity, signal));
  return {...found.state.value, severity, more: () => found.extend((signal, old) => read(severity, signal, old)), retry: () => found.retry()};
}

function Item({item}: {item: Finding}) {
  const [file, line] = [textOf(item.data, "file"), item.data["line"]];
  const where = file && (typeof line === "number" ? `${file}:${line}` : file);
  return (
    <li>
      <a class="finding" href={href({task: item.taskID, at: item.sequence})}>
        <Severity name={item.severity} />
        <span class="finding-what"><Words text={item.summary} /></span>
        <span class="quiet finding-where">{where && <code><Name text={where} most={48} /></code>} <Words text={item.category ?? ""} />
          {item.confidence !== undefined && <span class="number"> {Math.round(item.confidence * 100)} % sure</span>}</span>
        <span class="quiet finding-task"><Name text={item.title || item.taskID} most={36} /></span>
        <span class="number quiet finding-at">{dayAndTime(item.at, now.value)}</span>
      </a>
    </li>
  );
}

function SectionOf({severity, value, error, busy, more}: Section) {
  if (!value || (value.items.length === 0 && !error)) {
    return severity || !value?.next ? null : <p class="page-on"><button type="button" class="plain" disabled={busy} onClick={more}>Look for other severities</button></p>;
  }
  return (
    <section aria-label={severity || "other severities"}>
      <h2 class="group">{severity || "other"} <span class="number quiet">{value.items.length}{value.next && "+"}</span></h2>
      <ul class="results">{value.items.map((item) => <Item key={`${item.taskID}/${item.sequence}`} item={item} />)}</ul>
      {error && <p class="bad page-on" role="alert">{error}</p>}
      {value.next && <p class="page-on"><button type="button" disabled={busy} onClick={more}>More {severity || "of other severities"}</button></p>}
    </section>
  );
}

export function Findings() {
  const chosen = params.value.get("severity") ?? "";
  const found = [...kSeverities, ""].map(useFindings);
  const shown = chosen ? found.filter((each) => each.severity === (kSeverities.includes(chosen) ? chosen : "")) : found;
  const failed = shown.find((each) => each.error && !each.value);
  return (
    <div class="findings">
      <header class="view-head">
        <h1>Findings</h1>
        <select aria-label="Severity" value={chosen} onChange={(input) => change({severity: input.currentTarget.value})}>
          <option value="">any severity</option>
          {kSeverities.map((each) => <option key={each} value={each}>{each}</option>)}
        </select>
      </header>
      {failed?.missing ? <Notice title="This server does not collect findings">It is older than this page.</Notice>
        : failed ? <Failed title="The findings could not be read" why={failed.error} again={() => shown.forEach((each) => { if (!each.value) each.retry(); })} />
          : shown.some((each) => !each.value) ? <Notice title="Reading …" busy />
            : shown.every((each) => each.value!.items.length === 0 && !each.value!.next) ? <Notice title={chosen ? `No ${chosen} findings` : "No findings"}>Agents that report findings show up here.</Notice>
              : shown.map((each) => <SectionOf key={each.severity} {...each} />)}
    </div>
  );
}
