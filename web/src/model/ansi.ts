// Terminal output as styled runs of text. It interprets only colours and weight (SGR) and drops every other escape
// sequence (cursor movement, titles, links, clipboard), so that output can style itself and do nothing else.

export interface AnsiRun {
  text: string;
  className: string;  // "" or names such as "fg-red bold"
}

// After this many runs the style no longer changes, which bounds the elements that output can add to a page.
const kMostRuns = 2000;
const kColours = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

interface Style {
  fg: string;
  bg: string;
  flags: Set<string>;
}

const plainStyle = (): Style => ({fg: "", bg: "", flags: new Set()});

function classesOf(style: Style): string {
  return [style.fg && "fg-" + style.fg, style.bg && "bg-" + style.bg, ...style.flags].filter(Boolean).join(" ");
}

const kFlagOn: Record<number, string> = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 9: "strike"};
const kFlagOff: Record<number, string[]> = {22: ["bold", "dim"], 23: ["italic"], 24: ["underline"], 29: ["strike"]};

// The nearest of the sixteen colours, so that the page's palette keeps its contrast.
function nearest(red: number, green: number, blue: number): string {
  const most = Math.max(red, green, blue);
  if (most < 64) return "black";
  const index = (red > most / 2 ? 1 : 0) | (green > most / 2 ? 2 : 0) | (blue > most / 2 ? 4 : 0);
  return kColours[index] ?? "";
}

function indexed(code: number): string {
  if (code < 16) return kColours[code % 8] ?? "";
  if (code > 231) return code < 238 ? "black" : "white";
  const cube = code - 16;
  return nearest(Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51);
}

function applySgr(style: Style, parameters: string): void {
  const codes = parameters.split(/[;:]/).map((text) => (text === "" ? 0 : Number(text)));
  for (let i = 0; i < codes.length; ++i) {
    const code = codes[i] ?? 0;
    const on = kFlagOn[code];
    if (code === 0) Object.assign(style, plainStyle());
    else if (on) style.flags.add(on);
    else if (kFlagOff[code]) kFlagOff[code].forEach((flag) => style.flags.delete(flag));
    else if (code >= 30 && code <= 37) style.fg = kColours[code - 30] ?? "";
    else if (code >= 90 && code <= 97) style.fg = kColours[code - 90] ?? "";
    else if (code >= 40 && code <= 47) style.bg = kColours[code - 40] ?? "";
    else if (code >= 100 && code <= 107) style.bg = kColours[code - 100] ?? "";
    else if (code === 39) style.fg = "";
    else if (code === 49) style.bg = "";
    else if (code === 38 || code === 48) {
      const colour = codes[i + 1] === 5 ? indexed(codes[i + 2] ?? 0)
        : nearest(codes[i + 2] ?? 0, codes[i + 3] ?? 0, codes[i + 4] ?? 0);
      if (code === 38) style.fg = colour;
      else style.bg = colour;
      i += codes[i + 1] === 5 ? 2 : 4;
    }
  }
}

// CSI; OSC, DCS, SOS, PM, APC up to their end (or the text's); two-character escapes; a lone escape.
const kEscape = new RegExp(
  "(?:\\u001b\\[|\\u009b)([0-?]*)[ -/]*([@-~])" +
  "|(?:\\u001b[\\]PX^_]|[\\u009d\\u0090\\u0098\\u009e\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c|$)?" +
  "|\\u001b[ -/]*[0-~]?", "g");
const kControls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

// What a terminal shows of an overwritten line: the text after the last carriage return.
function overwritten(text: string): string {
  if (!text.includes("\r")) return text;
  return text.split("\n").map((line) => {
    let end = line.length;
    while (end > 0 && line[end - 1] === "\r") --end;  // part of the line end, or overwritten by nothing
    return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
  }).join("\n");
}

export function parseAnsi(input: string): AnsiRun[] {
  const runs: AnsiRun[] = [];
  const style = plainStyle();
  const push = (text: string) => {
    const clean = text.replace(kControls, "");
    if (!clean) return;
    const className = classesOf(style);
    const last = runs[runs.length - 1];
    if (last && (last.className === className || runs.length >= kMostRuns)) last.text += clean;
    else runs.push({text: clean, className});
  };
  let from = 0;
  const text = overwritten(input);
  for (const match of text.matchAll(kEscape)) {
    push(text.slice(from, match.index));
    from = match.index + match[0].length;
    if (match[2] === "m") applySgr(style, match[1] ?? "");
  }
  push(text.slice(from));
  return runs;
}
