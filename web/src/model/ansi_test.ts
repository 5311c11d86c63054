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
  it("knows every colour, before and behind the text, usual and bright", () => {
    ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"].forEach((name, n) => {
      for (const code of [30 + n, 90 + n, `38;5;${n}`, `38;5;${n + 8}`]) expect(parseAnsi(`${e}[${code}mx`)[0]?.className, `${code}`).toBe(`fg-${name}`);
      for (const code of [40 + n, 100 + n]) expect(parseAnsi(`${e}[${code}mx`)[0]?.className, `${code}`).toBe(`bg-${name}`);
    });
    for (const code of [28, 50, 89, 98, 99, 108]) expect(parseAnsi(`${e}[${code}mx`)[0]?.className, `${code}`).toBe("");
    expect(parseAnsi(`${e}[31;44mx${e}[39my${e}[49mz${e}[32mg${e}[mp`).map((run) => run.className)).toEqual(["fg-red bg-blue", "bg-blue", "", "fg-green", ""]);
  });
  it("knows every weight and its end", () => {
    const off = parseAnsi(`${e}[1;2;3;4;9ma${e}[22mb${e}[23mc${e}[24md${e}[29me`).map((run) => run.className);
    expect(off).toEqual(["bold dim italic underline strike", "italic underline strike", "underline strike", "strike", ""]);
  });
  it("joins what looks alike", () => expect(parseAnsi(`a${e}[2Kb${e}[0mc`)).toEqual([{text: "abc", className: ""}]));
  it.each([
    ["5;16", "black"], ["5;17", "black"], ["5;18", "blue"], ["5;51", "cyan"], ["5;104", "blue"], ["5;114", "green"], ["5;174", "red"], ["5;201", "magenta"], ["5;208", "red"], ["5;214", "yellow"], ["5;231", "white"],
    ["5;232", "black"], ["5;237", "black"], ["5;238", "white"], ["5;255", "white"], ["5", "black"],
    ["2;63;0;0", "black"], ["2;64;0;0", "red"], ["2;200;100;100", "red"], ["2;200;101;0", "yellow"], ["2;100;200;100", "green"], ["2;101;200;0", "yellow"],
    ["2;100;100;200", "blue"], ["2;200;0;101", "magenta"], ["2;0;200", "green"], ["2", "black"],
  ])("takes the nearest colour for 38;%s, and goes on behind it", (code, name) => {
    expect(parseAnsi(`${e}[38;${code}mx`)[0]?.className).toBe(`fg-${name}`);
    expect(parseAnsi(`${e}[48:${code}mx`)[0]?.className).toBe(`bg-${name}`);
    if (code.split(";").length === (code[0] === "5" ? 2 : 4)) expect(parseAnsi(`${e}[38;${code};1;4mx`)[0]?.className).toBe(`fg-${name} bold underline`);
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
