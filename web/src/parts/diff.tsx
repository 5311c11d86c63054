// What an edit changes, with a few unchanged lines around.
import {useMemo, useState} from "preact/hooks";
import {diffLines, type DiffLine} from "../model/diff_lines";
import {Exact} from "./text";

const kMostLines = 40;     // before it has to be asked for
const kMostElements = 2000;  // beyond, lines of one kind are one element
const kSign = {add: "+", del: "−", same: " ", gap: " "};

// Lines that follow one another and are of one kind, as one.
function runsOf(lines: DiffLine[]): DiffLine[] {
  const texts: {line: DiffLine; texts: string[]}[] = [];
  for (const line of lines) {
    const last = texts[texts.length - 1];
    if (last?.line.kind === line.kind) last.texts.push(line.text);
    else texts.push({line, texts: [line.text]});
  }
  return texts.map((run) => ({...run.line, text: run.texts.join("\n")}));
}

// `numbers`: the texts are whole files; of a piece of one nobody knows its lines' numbers.
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
