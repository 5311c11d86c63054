import {expect, test} from "vitest";
import {markPaths} from "./time_marks";

test("one path for each kind, however many marks", () => {
  const marks = Array.from({length: 900}, (_, n) => ({kind: ["error", "failed", "command"][n % 3]!, place: n / 900}));
  const paths = markPaths(marks, 10_000);
  expect(paths.map(({kind}) => kind)).toEqual(["error", "failed", "command"]);
  for (const {path} of paths) expect(path.match(/M/g)).toHaveLength(300);
});

test("marks are where their event is, once a pixel", () => {
  expect(markPaths([{kind: "error", place: 0.5}, {kind: "error", place: 0.5001}, {kind: "error", place: 1}], 200)).toEqual([{kind: "error", path: "M100 1l3 6h-6zM200 1l3 6h-6z"}]);
});

test("an unknown kind looks like a command, even one named like a member of every object", () => {
  expect(markPaths([{kind: "novel", place: 0}, {kind: "constructor", place: 0}], 100)).toEqual(markPaths([{kind: "command", place: 0}], 100));
});
