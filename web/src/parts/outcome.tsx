// The results of a task: pull request, branch, files, and the processes that its end stopped.
import type {JsonObject} from "../api/types";
import {countOf, processesOf, textOf, textsOf, type EndedProcess} from "../model/shape";
import {Words} from "./text";

const kMostFiles = 500;

// Addresses come from agents, so only http and https become links.
export function safeLink(url: string): string | undefined {
  return /^https?:\/\//i.test(url) ? url : undefined;
}

export function OutLink({url}: {url: string}) {
  const link = safeLink(url);
  return link ? <a href={link} target="_blank" rel="noopener noreferrer"><Words text={url} /></a> : <Words text={url} />;
}

export function Leaves({data}: {data: JsonObject}) {
  const files = textsOf(data["files"]);
  const changed = countOf(data, "filesChanged") || files.length;
  return (
    <div class="leaves">
      {textOf(data, "prURL") && <p><OutLink url={textOf(data, "prURL")} /></p>}
      {textOf(data, "branch") && <p>branch <code><Words text={textOf(data, "branch")} /></code></p>}
      {changed > 0 && (
        <details>
          <summary>{changed} {changed === 1 ? "file" : "files"} <span class="add">+{countOf(data, "insertions")}</span> <span class="del">−{countOf(data, "deletions")}</span></summary>
          <ul>{files.slice(0, kMostFiles).map((file, index) => <li key={index}><code><Words text={file} /></code></li>)}</ul>
          {files.length > kMostFiles && <p class="quiet">and {files.length - kMostFiles} more</p>}
        </details>
      )}
    </div>
  );
}

// The proof of a stop: every process that was killed, and how.
export function Ended({data}: {data: JsonObject}) {
  const ended = processesOf(data["ended"]);
  const left = processesOf(data["left"]);
  if (ended.length === 0 && left.length === 0) return null;
  const line = (process: EndedProcess, index: number) => (
    <li key={index}><span class="number">{process.pid}</span> <Words text={process.how} /> <code><Words text={process.name} /></code></li>);
  return (
    <details class="ended">
      <summary>{ended.length} {ended.length === 1 ? "process" : "processes"} gone{textOf(data, "stoppedBy") && <> · <Words text={textOf(data, "stoppedBy")} /></>}{left.length > 0 && `, ${left.length} left`}</summary>
      <ul>{ended.slice(0, kMostFiles).map(line)}</ul>
      {left.length > 0 && <><p class="bad">still there:</p><ul>{left.slice(0, kMostFiles).map(line)}</ul></>}
    </details>
  );
}
