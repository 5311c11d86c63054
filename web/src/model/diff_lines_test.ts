import {describe, expect, it} from "vitest";
import {diffLines} from "./diff_lines";
import {quickest} from "./quickest";

const told = (lines: ReturnType<typeof diffLines>) => lines.map((line) => ({add: "+", del: "-", same: " ", gap: "~"})[line.kind] + line.text);

describe("a change", () => {
  it("is told line by line", () => expect(told(diffLines("a\nb\nc\n", "a\nB\nc\n"))).toEqual([" a", "-b", "+B", " c"]));
  it("of a whole file is all of it", () => expect(told(diffLines("", "a\nb"))).toEqual(["+a", "+b"]));
  it("shows every unchanged line where it is decided on", () => {
    const text = Array.from({length: 30}, (_, n) => `line ${n}`);
    const [before, after] = [text.join("\n"), [...text.slice(0, 29), "other"].join("\n")];
    expect(diffLines(before, after)).toHaveLength(7);
    expect(diffLines(before, after, true)).toHaveLength(33);  // including two notes about the missing final newline
    expect(told(diffLines(before, after, true))).toContain(" line 3");
    expect(told(diffLines("x\ny", "x\ny", true))).toEqual([" x", " y"]);
  });
  it("of the end of a file is seen", () => expect(told(diffLines("a\n", "a"))).toContain("~\\ No newline at end of file"));
  it("of everything is told at once", () => {
    const lines = (word: string) => Array.from({length: 4000}, (_, n) => `${word} ${n}`).join("\n");
    expect(quickest(() => diffLines(lines("old"), lines("new")))).toBeLessThan(1500);
    expect(diffLines(lines("old"), lines("new"))).toHaveLength(8000);
  });
});
