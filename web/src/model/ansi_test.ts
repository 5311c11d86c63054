import {describe, expect, it} from "vitest";
import {parseAnsi, withoutAnsi} from "./ansi";

const e = "\u001b";

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
  });
});
