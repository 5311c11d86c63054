import {expect, test} from "vitest";
import {markedPieces} from "./marked";

test("words are marked where they begin, in any case", () => {
  expect(markedPieces("Run pytest tests/login_test.py", "test")).toEqual(["Run pytest ", "test", "s/login_", "test", ".py"]);
  expect(markedPieces("Größe", "größe")).toEqual(["", "Größe", ""]);
});

test("operators and excluded words are not marked", () => {
  expect(markedPieces("this or that, not those", "that OR -those")).toEqual(["this or ", "that", ", not those"]);
  expect(markedPieces("a (b", "(")).toEqual(["a (b"]);
});
