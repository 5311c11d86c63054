// Findings across tasks: the worst first, and within a severity the newest first.
import {useEffect, useState} from "preact/hooks";
import {api, ApiError} from "../api/client";
import type {Finding, Findings as Answer} from "../api/contract";
import {textOf} from "../model/shape";
import {dayAndTime} from "../model/format";
import {Notice} from "../parts/notice";
import {kSeverities, Severity} from "../parts/severity";
import {Name, Words} from "../parts/text";
import {now} from "../state/now";
import {change, href, params} from "../state/route";

interface Pages {
  items: Finding[] | null;
  next: string;
  error: string;
  missing: boolean;
}
const kUnread: Pages = {items: null, next: "", error: "", missing: false};

// Findings of one severity, page by page. "" means an unknown severity; those are filtered from all findings.
function useFindings(severity: string): Pages & {more: () => void} {
  const [pages, setPages] = useState<Pages>(kUnread);
  const read = (after: string, given: () => boolean) => api.get<Answer>("/findings", {severity, after}).then(
    (answer) => {
      if (!given()) return;
      const fresh = severity ? answer.items : answer.items.filter((item) => !kSeverities.includes(item.severity));
      setPages((old) => ({...kUnread, items: [...(after ? old.items ?? [] : []), ...fresh], next: answer.next ?? ""}));
    },
    (failure: unknown) => { if (given()) setPages((old) => ({...old, error: (failure as Error).message, missing: failure instanceof ApiError && failure.isMissing})); });
  useEffect(() => {
    let given = true;
    setPages(kUnread);
    void read("", () => given);
    return () => { given = false; };
  }, [severity]);
  return {...pages, more: () => void read(pages.next, () => true)};
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

function Section({severity, pages, more}: {severity: string; pages: Pages; more: () => void}) {
  if (!pages.items || (pages.items.length === 0 && !pages.error)) {
    return severity || !pages.next ? null : <p class="page-on"><button type="button" class="plain" onClick={more}>Look for other severities</button></p>;
  }
  return (
    <section aria-label={severity || "other severities"}>
      <h2 class="group">{severity || "other"} <span class="number quiet">{pages.items.length}{pages.next && "+"}</span></h2>
      <ul class="results">{pages.items.map((item) => <Item key={`${item.taskID}/${item.sequence}`} item={item} />)}</ul>
      {pages.error && <p class="bad page-on" role="alert">{pages.error}</p>}
      {pages.next && <p class="page-on"><button type="button" onClick={more}>More {severity || "of other severities"}</button></p>}
    </section>
  );
}

export function Findings() {
  const chosen = params.value.get("severity") ?? "";
  const found = kSeverities.map((severity) => ({severity, ...useFindings(severity)}));
  found.push({severity: "", ...useFindings("")});
  const shown = chosen ? found.filter((each) => each.severity === (kSeverities.includes(chosen) ? chosen : "")) : found;
  const failed = shown.find((each) => each.error && !each.items);
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
        : failed ? <Notice title="The findings could not be read">{failed.error}</Notice>
          : shown.some((each) => !each.items) ? <Notice title="Reading …" busy />
            : shown.every((each) => each.items!.length === 0 && !each.next) ? <Notice title={chosen ? `No ${chosen} findings` : "No findings"}>Agents that report findings show up here.</Notice>
              : shown.map((each) => <Section key={each.severity} severity={each.severity} pages={each} more={each.more} />)}
    </div>
  );
}
