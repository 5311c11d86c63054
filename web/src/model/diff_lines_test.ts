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
  it("has the numbers of its lines, and a gap between its places", () => {
    const text = Array.from({length: 20}, (_, n) => `line ${n + 1}`);
    const after = [...text];
    after[1] = "two";
    after.splice(15, 0, "new");
    const lines = diffLines(text.join("\n") + "\n", after.join("\n") + "\n");
    expect(lines.filter((line) => line.kind !== "same")).toEqual([
      {kind: "del", text: "line 2", old: 2, now: null}, {kind: "add", text: "two", old: null, now: 2},
      {kind: "gap", text: "⋯", old: null, now: null}, {kind: "add", text: "new", old: null, now: 16}]);
    expect(lines[0]).toEqual({kind: "same", text: "line 1", old: 1, now: 1});
    expect(lines.find((line) => line.text === "line 16")).toEqual({kind: "same", text: "line 16", old: 16, now: 17});
    expect(lines.map((line) => line.text).filter((line) => ["line 5", "line 6", "line 12", "line 13", "line 18", "line 19"].includes(line))).toEqual(["line 5", "line 13", "line 18"]);
  });
  it("of nothing is nothing, or all of it where it is decided on", () => {
    expect(diffLines("x\ny", "x\ny")).toEqual([]);
    expect(diffLines("x\ny", "x\ny", true)).toEqual([{kind: "same", text: "x", old: 1, now: 1}, {kind: "same", text: "y", old: 2, now: 2}]);
    expect(diffLines("", "a\nb").map((line) => [line.old, line.now])).toEqual([[null, 1], [null, 2]]);
  });
  it("of texts that are too long is one after the other", () => {
    const [before, after] = ["x\n" + "a".repeat(199_998), "x\n" + "b".repeat(199_998)];
    expect(told(diffLines(before, after)).map((line) => line.slice(0, 2))).toEqual([" x", "-a", "~\\", "+b", "~\\"]);
    expect(diffLines(before, after + "b").map((line) => [line.kind, line.old, line.now])).toEqual([["del", 1, null], ["del", 2, null], ["add", null, 1], ["add", null, 2]]);
  });
});
