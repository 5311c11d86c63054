// What an edit changes, line by line, with a few unchanged lines around.
import {structuredPatch} from "diff";
import {useState} from "preact/hooks";
import {Words} from "./text";

const kMostLines = 40;  // before it has to be asked for
const kLongest = 400_000;  // characters compared; beyond, the two texts are shown one after the other

interface Line {
  kind: "add" | "del" | "same" | "gap";
  text: string;
  old: number | null;
  now: number | null;
}

export function diffLines(before: string, after: string): Line[] {
  if (before.length + after.length > kLongest) {
    return [...before.split("\n").map((text, i): Line => ({kind: "del", text, old: i + 1, now: null})),
      ...after.split("\n").map((text, i): Line => ({kind: "add", text, old: null, now: i + 1}))];
  }
  const lines: Line[] = [];
  for (const hunk of structuredPatch("", "", before, after, "", "", {context: 3}).hunks) {
    if (lines.length > 0) lines.push({kind: "gap", text: "⋯", old: null, now: null});
    let [old, now] = [hunk.oldStart, hunk.newStart];
    for (const line of hunk.lines) {
      const text = line.slice(1);
      if (line[0] === "+") lines.push({kind: "add", text, old: null, now: now++});
      else if (line[0] === "-") lines.push({kind: "del", text, old: old++, now: null});
      else if (line[0] === " ") lines.push({kind: "same", text, old: old++, now: now++});
    }
  }
  return lines;
}

const kSign = {add: "+", del: "−", same: " ", gap: " "};

// `numbers`: the texts are whole files; of a piece of one nobody knows its lines' numbers.
export function Diff({before, after, numbers = false}: {before: string; after: string; numbers?: boolean}) {
  const [all, showAll] = useState(false);
  const lines = diffLines(before, after);
  const shown = all ? lines : lines.slice(0, kMostLines);
  return (
    <div class={numbers ? "diff diff-numbered" : "diff"} role="group" aria-label="Changed lines">
      {shown.map((line, index) => (
        <div key={index} class={`diff-${line.kind}`}>
          {numbers && <span class="diff-number" aria-hidden="true">{line.now ?? line.old ?? ""}</span>}
          <span class="diff-sign">{kSign[line.kind]}</span>
          <Words text={line.text} />
        </div>
      ))}
      {lines.length > shown.length && (
        <button type="button" class="more" onClick={() => showAll(true)}>{lines.length - shown.length} more lines</button>
      )}
    </div>
  );
}
