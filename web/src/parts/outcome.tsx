// What a task leaves: pull request, branch, files; and what its end left of its processes.
import type {JsonObject} from "../api/types";
import {textOf} from "../model/fold";
import {Words} from "./text";

// Addresses come from agents: only the web's own schemes become links.
export function safeLink(url: string): string | undefined {
  return /^https?:\/\//i.test(url) ? url : undefined;
}

export function OutLink({url}: {url: string}) {
  const link = safeLink(url);
  return link ? <a href={link} target="_blank" rel="noopener noreferrer"><Words text={url} /></a> : <Words text={url} />;
}

export function Leaves({data}: {data: JsonObject}) {
  const files = Array.isArray(data["files"]) ? (data["files"] as string[]) : [];
  const changed = Number(data["filesChanged"] ?? files.length);
  return (
    <div class="leaves">
      {textOf(data, "prURL") && <p><OutLink url={textOf(data, "prURL")} /></p>}
      {textOf(data, "branch") && <p>branch <code><Words text={textOf(data, "branch")} /></code></p>}
      {changed > 0 && (
        <details>
          <summary>{changed} {changed === 1 ? "file" : "files"} <span class="add">+{Number(data["insertions"] ?? 0)}</span> <span class="del">−{Number(data["deletions"] ?? 0)}</span></summary>
          <ul>{files.map((file) => <li key={file}><code><Words text={file} /></code></li>)}</ul>
        </details>
      )}
    </div>
  );
}

// The proof of a stop: every process that was ended, and how.
export function Ended({data}: {data: JsonObject}) {
  const ended = Array.isArray(data["ended"]) ? (data["ended"] as JsonObject[]) : [];
  const left = Array.isArray(data["left"]) ? (data["left"] as JsonObject[]) : [];
  if (ended.length === 0 && left.length === 0) return null;
  const line = (process: JsonObject) => (
    <li key={String(process["pid"])}><span class="number">{String(process["pid"])}</span> <Words text={textOf(process, "how")} /> <code><Words text={textOf(process, "name")} /></code></li>);
  return (
    <details class="ended">
      <summary>{ended.length} {ended.length === 1 ? "process" : "processes"} gone{textOf(data, "stoppedBy") && <> · <Words text={textOf(data, "stoppedBy")} /></>}{left.length > 0 && `, ${left.length} left`}</summary>
      <ul>{ended.map(line)}</ul>
      {left.length > 0 && <><p class="bad">still there:</p><ul>{left.map(line)}</ul></>}
    </details>
  );
}
