import {describe, expect, it} from "vitest";
import {parseAnsi} from "./ansi";
import {quickest} from "./quickest";

const e = "\u001b";
const withoutAnsi = (text: string) => parseAnsi(text).map((run) => run.text).join("");

describe("ansi", () => {
  it("leaves plain text as one run", () => {
    expect(parseAnsi("two\nlines")).toEqual([{text: "two\nlines", className: ""}]);
  });
  it("knows colours, weight and their end", () => {
    expect(parseAnsi(`a${e}[1;31mb${e}[22mc${e}[0md`)).toEqual([
      {text: "a", className: ""}, {text: "b", className: "fg-red bold"}, {text: "c", className: "fg-red"},
      {text: "d", className: ""}]);
  });
  it("maps 256 and true colours onto the palette", () => {
    expect(parseAnsi(`${e}[38;5;196mx`)[0]?.className).toBe("fg-red");
    expect(parseAnsi(`${e}[38;2;0;200;20mx`)[0]?.className).toBe("fg-green");
    expect(parseAnsi(`${e}[48;5;21;1mx`)[0]?.className).toBe("bg-blue bold");
  });
  it("drops cursor movement, titles, links, clipboard writes and device strings", () => {
    expect(withoutAnsi(`${e}[2J${e}[Htop`)).toBe("top");
    expect(withoutAnsi(`${e}]0;evil title\u0007shown`)).toBe("shown");
    expect(withoutAnsi(`${e}]8;;http://evil.example${e}\\link${e}]8;;${e}\\`)).toBe("link");
    expect(withoutAnsi(`${e}]52;c;ZXZpbA==\u0007ok`)).toBe("ok");
    expect(withoutAnsi(`${e}Pq#0evil${e}\\ok`)).toBe("ok");
  });
  it("drops sequences that were cut off, and lone control characters", () => {
    expect(withoutAnsi(`ok${e}[31`)).not.toContain(e);
    expect(withoutAnsi(`ok${e}]0;never ends`)).toBe("ok");
    expect(withoutAnsi("a\u0000b\u0007c\u009bd")).not.toMatch(/[\u0000-\u0008\u007f-\u009f]/);
  });
  it("shows what a progress bar left", () => {
    expect(withoutAnsi("10%\r50%\r100%\ndone\r\n")).toBe("100%\ndone\n");
    expect(withoutAnsi("a\rb\r\r\n\r\nc\r")).toBe("b\n\nc");
  });
  it.each([
    ["one line", "x".repeat(200_000)], ["carriage returns", "ab\r".repeat(70_000)], ["unfinished colours", `${e}[31`.repeat(50_000)],
    ["unfinished titles", `${e}]0;x`.repeat(40_000)], ["colours", `${e}[31mx${e}[32my`.repeat(16_000)], ["one endless number", `${e}[${"1".repeat(200_000)}`],
    ["lines", "ab\n".repeat(70_000)],
  ])("takes time in proportion to its length: 200 KB of %s", (_, text) => {
    expect(quickest(() => parseAnsi(text))).toBeLessThan(100);
    expect(parseAnsi(text).length).toBeLessThan(2001);
  });
});
