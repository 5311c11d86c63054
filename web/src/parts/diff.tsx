// The changes of an edit, with a few unchanged lines around them.
import {useMemo, useState} from "preact/hooks";
import {diffLines, type DiffLine} from "../model/diff_lines";
import {Exact} from "./text";

const kMostLines = 40;     // shown before the rest must be opened
const kMostElements = 2000;  // beyond this, consecutive lines of one kind share an element
const kSign = {add: "+", del: "−", same: " ", gap: " "};

// Joins consecutive lines of one kind.
function runsOf(lines: DiffLine[]): DiffLine[] {
  const texts: {line: DiffLine; texts: string[]}[] = [];
  for (const line of lines) {
    const last = texts[texts.length - 1];
    if (last?.line.kind === line.kind) last.texts.push(line.text);
    else texts.push({line, texts: [line.text]});
  }
  return texts.map((run) => ({...run.line, text: run.texts.join("\n")}));
}

// `numbers` means that the texts are whole files. The line numbers of a fragment are unknown.
export function DiffLines({lines, numbers}: {lines: DiffLine[]; numbers: boolean}) {
  const many = lines.length > kMostElements;
  const shown = useMemo(() => (many ? runsOf(lines) : lines), [lines, many]);
  return (
    <div class={numbers ? "diff diff-numbered" : "diff"} role="group" aria-label="Changed lines">
      {shown.map((line, index) => (
        <div key={index} class={`diff-${line.kind}`}>
          {numbers && <span class="diff-number" aria-hidden="true">{line.now ?? line.old ?? ""}</span>}
          <span class="diff-sign">{kSign[line.kind]}</span>
          <Exact text={line.text} />
        </div>
      ))}
    </div>
  );
}

export function Diff({before, after, numbers = false}: {before: string; after: string; numbers?: boolean}) {
  const [all, showAll] = useState(false);
  const lines = useMemo(() => diffLines(before, after), [before, after]);
  const shown = useMemo(() => (all ? lines : lines.slice(0, kMostLines)), [lines, all]);
  return (
    <>
      <DiffLines lines={shown} numbers={numbers} />
      {lines.length > shown.length && <button type="button" class="more" onClick={() => showAll(true)}>{(lines.length - shown.length).toLocaleString("en-US")} more lines</button>}
    </>
  );
}
