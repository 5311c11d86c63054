import {describe, expect, it} from "vitest";
import type {JsonObject} from "../api/types";
import {clipInput, isWhole, restWords, type InputClip} from "./input_clip";
import {excerpt, linesIn} from "./excerpt";
import {inputParts} from "./input_parts";
import {quickest} from "./quickest";

// Every text that a person would see on the screen.
const seen = (clip: InputClip) => clip.parts.map((part) => `${part.name}\n${part.form === "change" ? part.lines.map((line) => line.text).join("\n") : part.text}`).join("\n");

// Inputs as Claude Code requests approval for them, and worse ones.
const kInputs: [string, JsonObject][] = [
  ["Bash", {command: "make", description: "Build", timeout: 600000, run_in_background: true, dangerouslyDisableSandbox: true}],
  ["Bash", {command: {nested: "not a text"}, "command ": "lookalike", "": "no name"}],
  ["Bash", {}],
  ["Edit", {file_path: "/etc/hosts", old_string: "a\nb", new_string: "a\nc", replace_all: true}],
  ["Edit", {file_path: 7, old_string: null, new_string: "only new"}],
  ["MultiEdit", {file_path: "/x", edits: [{old_string: "p", new_string: "q", replace_all: true}, {old_string: "r", new_string: "s"}], also: "this"}],
  ["MultiEdit", {file_path: "/x", edits: [null, 1, {old_string: "p", new_string: "q"}]}],
  ["Write", {file_path: "/x", content: "all of it", mode: "0777"}],
  ["NotebookEdit", {notebook_path: "/n.ipynb", new_source: "print()", cell_id: "c1", edit_mode: "insert"}],
  ["ExitPlanMode", {plan: "# Plan", allowedPrompts: [{tool: "Bash", prompt: "rm"}]}],
  ["mcp__db__query", {sql: "drop table x", params: {deep: [1, {er: "deepest"}]}, flag: false, none: null}],
];

function leaves(value: unknown): string[] {
  if (value !== null && typeof value === "object") return Object.entries(value).flatMap(([name, each]) => [...(Array.isArray(value) ? [] : [name]), ...leaves(each)]);
  return String(value).split("\n");
}

describe("an input to be approved", () => {
  it.each(kInputs)("of %s shows every name and value of %j", (tool, input) => {
    const clip = clipInput(tool, input, 100);
    expect(isWhole(clip)).toBe(true);
    const text = seen(clip);
    const told = ["command", "file_path", "old_string", "new_string", "content", "edits"];  // shown by the form itself
    for (const leaf of leaves(input)) if (!told.includes(leaf)) expect(text).toContain(leaf);
  });
  it("says how much of it is not shown", () => {
    const command = Array.from({length: 60}, (_, n) => `echo ${n}`).join("\n");
    const clip = clipInput("Bash", {command, timeout: 5}, 12);
    expect(isWhole(clip)).toBe(false);
    expect(restWords(clip)).toBe("49 more lines");
    expect(seen(clip)).not.toContain("echo 12");
    expect(isWhole(clipInput("Bash", {command, timeout: 5}, Infinity))).toBe(true);
  });
  it("says it of one long line, too", () => {
    const clip = clipInput("Bash", {command: `echo ${"x".repeat(50_000)}; rm -rf /`}, 12);
    expect(restWords(clip)).toBe("48,095 more characters");
    expect(seen(clip)).not.toContain("rm -rf");
  });
  it("says it of a change, with its unchanged lines", () => {
    const before = Array.from({length: 100}, (_, n) => `line ${n}`).join("\n");
    const clip = clipInput("Edit", {file_path: "/x", old_string: before, new_string: before + "\nevil", replace_all: false}, 20);
    expect(isWhole(clip)).toBe(false);
    expect(seen(clip)).not.toContain("evil");
    expect(seen(clipInput("Edit", {file_path: "/x", old_string: before, new_string: before + "\nevil"}, Infinity))).toContain("evil");
  });
  it("counts a row for each 160 characters of a line", () => {
    const parts = (rows: number, ...widths: number[]) => {
      const clip = clipInput("", Object.fromEntries(widths.map((width, n) => [`m${n}`, "x".repeat(width)])), rows);
      return [...clip.parts.map((part) => (part.form === "change" ? "" : part.text).length), "of", clip.lines, "hidden", clip.hiddenLines, clip.hiddenCharacters];
    };
    expect(parts(2, 160, 5, 5)).toEqual([160, 5, "of", 3, "hidden", 1, 5]);
    expect(parts(2, 161, 5, 5)).toEqual([161, "of", 3, "hidden", 2, 10]);
    expect(parts(1, 161, 5)).toEqual([160, "of", 2, "hidden", 1, 6]);
    expect(parts(3, 0, 1, 2)).toEqual([0, 1, 2, "of", 3, "hidden", 0, 0]);
  });
  it("of a change counts rows alike", () => {
    const clip = (rows: number, ...lines: string[]) => clipInput("Write", {content: lines.join("\n"), mode: "m"}, rows);
    const all = clip(4, "a".repeat(160), "b".repeat(161), "c");
    expect(isWhole(all)).toBe(false);
    expect([all.lines, all.hiddenLines, all.hiddenCharacters]).toEqual([4, 1, 1]);
    expect(restWords(all)).toBe("1 more line");
    const cut = clip(2, "a".repeat(160), "b".repeat(161), "c");
    expect([cut.parts.length, cut.hiddenLines, cut.hiddenCharacters]).toEqual([1, 2, 3]);
    expect(seen(cut)).toBe("\n" + "a".repeat(160) + "\n" + "b".repeat(160));
    expect(clip(1, "a", "b")).toMatchObject({hiddenLines: 2, hiddenCharacters: 2});
    expect(clip(0, "a").parts).toEqual([]);
    expect(clip(2, "a", "b").parts).toMatchObject([{form: "change", name: "", isFile: true}]);
  });
  it("has the form that suits its tool", () => {
    const forms = (tool: string, input: JsonObject) => inputParts(tool, input).map((part) => `${part.form} ${part.name}`);
    expect(forms("Bash", {command: "make", timeout: 1})).toEqual(["command command", "member timeout"]);
    expect(forms("Task", {command: "make"})).toEqual(["member command"]);
    expect(forms("ExitPlanMode", {plan: "x"})).toEqual(["prose plan"]);
    expect(forms("Other", {plan: "x"})).toEqual(["member plan"]);
    expect(forms("Edit", {file_path: "/x", old_string: "a", new_string: "b"})).toEqual(["path file_path", "change "]);
    expect(forms("Other", {file_path: "/x", new_string: "b"})).toEqual(["path file_path", "change "]);
    expect(forms("Write", {file_path: "/x", content: "b"})).toEqual(["path file_path", "change "]);
    expect(forms("Other", {file_path: "/x", content: "b"})).toEqual(["member file_path", "member content"]);
    expect(forms("Edit", {old_string: 1, new_string: "b"})).toEqual(["member old_string", "member new_string"]);
    expect(forms("Write", {old_string: "a", content: "b"})).toEqual(["member old_string", "member content"]);
    expect(forms("MultiEdit", {file_path: "/x", edits: [{old_string: "a", new_string: "b", all: true}, {content: "c"}]})).toEqual(
      ["path file_path", "change edit 1 of 2", "member edit 1: all", "change edit 2 of 2"]);
    expect(forms("MultiEdit", {edits: [{old_string: "a", new_string: "b"}]})).toEqual(["change edit 1 of 1"]);
    expect(forms("MultiEdit", {file_path: "/x", edits: []})).toEqual(["member file_path", "member edits"]);
  });
  it.each([["one line", "x".repeat(200_000)], ["lines", "x\n".repeat(100_000)]])("is cut in no time: %s", (_, text) => {
    for (const input of [{command: text}, {content: text}, {old_string: text, new_string: text + "y"}, {other: text}]) {
      expect(quickest(() => clipInput("Bash", input, 12))).toBeLessThan(600);
      expect(quickest(() => clipInput("Bash", input, Infinity))).toBeLessThan(1200);
    }
  });
});

describe("an excerpt", () => {
  it("is whole lines, or the beginning of a long one", () => {
    expect(excerpt("a\nb\nc", 2)).toEqual({text: "a\nb", whole: false, lines: 3, shownLines: 2});
    expect(excerpt("a\nb", 2)).toEqual({text: "a\nb", whole: true, lines: 2, shownLines: 2});
    expect(excerpt("x".repeat(1000), 2)).toMatchObject({text: "x".repeat(320), whole: false, lines: 1, shownLines: 1});
    expect(excerpt("", 2)).toMatchObject({text: "", whole: true});
    expect(excerpt("a\n", 1)).toMatchObject({text: "a", whole: false, lines: 2});
    expect(excerpt("x" + "👩".repeat(300), 1).text.length).toBe(159);
    expect(excerpt("👩".repeat(300), 1).text.length).toBe(160);
    expect(excerpt("\ud800".repeat(161), 1).text.length).toBe(159);
    expect(excerpt("\ue000".repeat(161), 1).text.length).toBe(160);
    expect(excerpt("x".repeat(160) + "\na", 1)).toMatchObject({text: "x".repeat(160), whole: false, shownLines: 1});
    expect(excerpt("x".repeat(161) + "\na", 2)).toMatchObject({text: "x".repeat(161), whole: false, shownLines: 1});
    expect(excerpt("\n\na", 2)).toEqual({text: "\n", whole: false, lines: 3, shownLines: 2});
    expect(excerpt("a", 0)).toMatchObject({text: "", whole: false, shownLines: 0});
    expect(["", "a", "a\n", "a\nb\nc"].map(linesIn)).toEqual([1, 1, 2, 3]);
  });
});
