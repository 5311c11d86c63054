// Cuts an input to a number of rows and counts the rest. A person can only approve what was shown. Pure.
import type {JsonObject} from "../api/types";
import {diffLines, type DiffLine} from "./diff_lines";
import {excerpt, linesIn} from "./excerpt";
import {inputParts, type InputPart} from "./input_parts";

export type ShownPart =
  | {form: "command" | "path" | "prose" | "member"; name: string; text: string}
  | {form: "change"; name: string; lines: DiffLine[]; isFile: boolean};

export interface InputClip {
  parts: ShownPart[];
  hiddenLines: number;
  hiddenCharacters: number;
  lines: number;  // of the whole input
}

const kRow = 160;
const rowsOf = (line: DiffLine) => Math.max(1, Math.ceil(line.text.length / kRow));

function clipChange(lines: DiffLine[], rows: number): DiffLine[] {
  const shown: DiffLine[] = [];
  for (const line of lines) {
    const needs = rowsOf(line);
    if (needs > rows) {
      if (rows > 0) shown.push({...line, text: excerpt(line.text, rows).text});
      return shown;
    }
    shown.push(line);
    rows -= needs;
  }
  return shown;
}

export function clipInput(tool: string, input: JsonObject, rows: number): InputClip {
  const clip: InputClip = {parts: [], hiddenLines: 0, hiddenCharacters: 0, lines: 0};
  const hide = (lines: number, characters: number) => {
    clip.hiddenLines += lines;
    clip.hiddenCharacters += characters;
  };
  const takeChange = (part: InputPart & {form: "change"}) => {
    const lines = diffLines(part.before, part.after, true);
    const shown = clipChange(lines, rows);
    const characters = (all: DiffLine[]) => all.reduce((sum, line) => sum + line.text.length, 0);
    clip.lines += lines.length;
    hide(lines.length - shown.length, characters(lines) - characters(shown));
    rows -= shown.reduce((sum, line) => sum + rowsOf(line), 0);
    if (shown.length > 0 || lines.length === 0) clip.parts.push({form: "change", name: part.name, lines: shown, isFile: part.isFile});
  };
  for (const part of inputParts(tool, input)) {
    if (part.form === "change") {
      takeChange(part);
      continue;
    }
    const lines = linesIn(part.text);
    clip.lines += lines;
    if (rows <= 0) {
      hide(lines, part.text.length);
      continue;
    }
    const shown = excerpt(part.text, rows);
    hide(lines - shown.shownLines, part.text.length - shown.text.length);
    rows -= shown.whole ? shown.text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / kRow)), 0) : rows;
    clip.parts.push({...part, text: shown.text});
  }
  return clip;
}

export const isWhole = (clip: InputClip): boolean => clip.hiddenLines === 0 && clip.hiddenCharacters === 0;

export function restWords(clip: InputClip): string {
  const number = (value: number) => value.toLocaleString("en-US");
  if (clip.hiddenLines > 0) return `${number(clip.hiddenLines)} more ${clip.hiddenLines === 1 ? "line" : "lines"}`;
  return `${number(clip.hiddenCharacters)} more characters`;
}
