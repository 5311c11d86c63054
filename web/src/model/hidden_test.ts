import {describe, expect, it} from "vitest";
import {escapedJson, exactPieces, exactText, plainLine, prosePieces} from "./hidden";
import {quickest} from "./quickest";

const prose = (text: string) => prosePieces(text).map((piece) => piece.text).join("");

describe("hidden characters", () => {
  it("are escaped where something is decided, every one of them", () => {
    expect(exactPieces("echo hi\u009d; touch PWN \u009c")).toEqual([
      {text: "echo hi", hidden: false}, {text: "\\u009d", hidden: true}, {text: "; touch PWN ", hidden: false}, {text: "\\u009c", hidden: true}]);
    expect(exactText("echo hi \u001b]; touch PWN #\u0007")).toBe("echo hi \\u001b]; touch PWN #\\u0007");
    expect(exactText("\u001b[31mred\u001b[0m\u001b[8mgone")).toBe("\\u001b[31mred\\u001b[0m\\u001b[8mgone");
    expect(exactText("visible\rover")).toBe("visible\\rover");
    expect(exactText("photo\u202egnp.exe")).toBe("photo\\u202egnp.exe");
    expect(exactText("👩‍👩‍👧 می‌خواهم")).toBe("👩\\u200d👩\\u200d👧 می\\u200cخواهم");
  });
  it.each([0x00, 0x08, 0x0b, 0x1b, 0x7f, 0x80, 0x90, 0x9d, 0x9f, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180e, 0x200b, 0x200d, 0x200e, 0x2028, 0x202e,
    0x2060, 0x2066, 0x206a, 0x206f, 0x2800, 0x3164, 0xfe00, 0xfeff, 0xffa0, 0xfff9, 0xfffb, 0xd800, 0x1d173, 0xe0001, 0xe0041, 0xe0100, 0xe01ef])("U+%x is seen in both", (code) => {
    const text = `a${String.fromCodePoint(code)}b`;
    const escape = code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
    expect(exactText(text)).toBe(`a${escape}b`);
    expect(prose(text)).toBe(`a${escape}b`);
    expect(plainLine(text)).toBe(`a${escape}b`);
  });
  it("leave new lines, tabs and what is seen alone", () => expect(exactText("a\n\tb <i> $(x) é 日本")).toBe("a\n\tb <i> $(x) é 日本"));
  it("that look like a space are no space in a command", () => expect(exactText("rm\u00a0-rf\u3000x\u2003y")).toBe("rm\\u00a0-rf\\u3000x\\u2003y"));
  it("leave every language alone in prose", () => {
    for (const text of ["שלום", "مرحبا", "می‌خواهم", "क्‍ष नमस्ते", "ශ්‍රී", "日本語　文", "naïve ✓ 👩‍👩‍👧‍👦 🏳️‍🌈 ❤️ 1️⃣ 👍🏽"]) expect(prose(text)).toBe(text);
  });
  it("are seen in prose where they belong to nothing", () => {
    expect(prose("a\u200db c\ufe0fd")).toBe("a\\u200db c\\ufe0fd");
    expect(prose("\u001b[1mbold\u001b[0m \u001b]0;title\u0007")).toBe("bold \\u001b]0;title\\u0007");
    expect(prose("two\r\nlines")).toBe("two\nlines");
  });
  it("are escaped in JSON, which stays the same value", () => {
    const value = {command: "rm \u202eevil \u{e0041}\u009d", list: ["\u3164"]};
    const text = escapedJson(JSON.stringify(value, null, 2));
    expect(text).not.toMatch(/[\u202e\u009d\u3164]/);
    expect(JSON.parse(text)).toEqual(value);
  });
  it.each([["one line", "x".repeat(200_000)], ["hidden ones", "\u200b".repeat(200_000)], ["every second hidden", "a\u200d".repeat(100_000)], ["emoji", "👩‍".repeat(60_000)],
    ["unfinished colours", "\u001b[1".repeat(60_000)]])("take time in proportion: 200 KB of %s", (_, text) => {
    for (const cut of [exactPieces, prosePieces]) {
      expect(quickest(() => cut(text))).toBeLessThan(600);
      expect(cut(text).length).toBeLessThanOrEqual(1000);
    }
  });
});
