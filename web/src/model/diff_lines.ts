// Computes what an edit changes, line by line. Pure, with bounded time: texts that differ too much are shown one after
// the other.
import {structuredPatch} from "diff";

export interface DiffLine {
  kind: "add" | "del" | "same" | "gap";
  text: string;
  old: number | null;
  now: number | null;
}

const kLongest = 400_000;  // maximum number of characters to compare
const kMostEdits = 800;    // maximum number of changed lines; beyond that the texts count as unrelated
const kAround = 3;

function oneAfterTheOther(before: string, after: string): DiffLine[] {
  return [...(before === "" ? [] : before.split("\n")).map((text, i): DiffLine => ({kind: "del", text, old: i + 1, now: null})),
    ...after.split("\n").map((text, i): DiffLine => ({kind: "add", text, old: null, now: i + 1}))];
}

// `all` includes every unchanged line.
export function diffLines(before: string, after: string, all = false): DiffLine[] {
  if (before === "" || before.length + after.length > kLongest) return oneAfterTheOther(before, after);
  const patch = structuredPatch("", "", before, after, "", "", {context: all ? Number.MAX_SAFE_INTEGER : kAround, maxEditLength: kMostEdits});
  if (!patch) return oneAfterTheOther(before, after);
  if (patch.hunks.length === 0) return all ? before.split("\n").map((text, i): DiffLine => ({kind: "same", text, old: i + 1, now: i + 1})) : [];
  const lines: DiffLine[] = [];
  for (const hunk of patch.hunks) {
    if (lines.length > 0) lines.push({kind: "gap", text: "⋯", old: null, now: null});
    let [old, now] = [hunk.oldStart, hunk.newStart];
    for (const line of hunk.lines) {
      const text = line.slice(1);
      if (line[0] === "+") lines.push({kind: "add", text, old: null, now: now++});
      else if (line[0] === "-") lines.push({kind: "del", text, old: old++, now: null});
      else if (line[0] === " ") lines.push({kind: "same", text, old: old++, now: now++});
      else lines.push({kind: "gap", text: line, old: null, now: null});  // "\ No newline at end of file"
    }
  }
  return lines;
}
