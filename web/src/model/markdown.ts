// Markdown as models write it, parsed to a tree; parts/markdown.tsx renders it. Blocks here, what is inside a line in
// markdown_inline.ts. HTML is text, images are links. Linear in the length of the text; nesting is bounded, and text
// that is nested deeper is a paragraph.

export interface ListItem {
  checked: boolean | undefined;  // of a task list
  blocks: Block[];
}
export type Align = "left" | "center" | "right" | undefined;
export type Block =
  | {kind: "paragraph"; text: string}
  | {kind: "heading"; level: number; text: string}
  | {kind: "code"; language: string; text: string; open: boolean}  // open: its end has not come yet
  | {kind: "quote"; blocks: Block[]}
  | {kind: "list"; ordered: boolean; start: number; loose: boolean; items: ListItem[]}
  | {kind: "table"; align: Align[]; head: string[]; rows: string[][]}
  | {kind: "rule"};

// A block of the text itself, with the part of the text that it was made of: if that is the same, so is the block.
export interface TopBlock {
  source: string;
  block: Block;
}

const kMostDepth = 8;      // of quotes and lists inside each other
const kMostColumns = 64;   // of a table
const kMostLanguage = 40;  // characters

const kFence = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const kHeading = /^ {0,3}(#{1,6})(?:[ \t]|$)/;
const kRule = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const kQuote = /^ {0,3}> ?/;
const kItem = /^( *)([-*+]|(\d{1,9})[.)])( {1,4}(?! )| |$)/;
const kTask = /^\[([ xX])\] /;

const isBlank = (line: string) => line.trim() === "";
const indentOf = (line: string) => line.length - line.trimStart().length;

function cells(line: string): string[] {
  const all: string[] = [];
  let from = 0;
  const text = line.trim();
  for (let at = 0; at < text.length; ++at) {
    if (text[at] === "\\") ++at;
    else if (text[at] === "|") {
      if (at > 0) all.push(text.slice(from, at).trim().replaceAll("\\|", "|"));
      from = at + 1;
    }
  }
  if (from < text.length) all.push(text.slice(from).trim().replaceAll("\\|", "|"));
  return all;
}

function alignment(line: string | undefined, columns: number): Align[] | undefined {
  if (line === undefined || !line.includes("-") || /[^|:\- \t]/.test(line)) return undefined;
  const all = cells(line);
  if (all.length !== columns || columns > kMostColumns || all.some((cell) => !/^:?-+:?$/.test(cell))) return undefined;
  return all.map((cell) => (cell.endsWith(":") ? (cell.startsWith(":") ? "center" : "right") : cell.startsWith(":") ? "left" : undefined));
}

// Whether a paragraph ends before this line.
function begins(line: string): boolean {
  const item = kItem.exec(line);
  if (item) return item[3] === undefined || Number(item[3]) <= 1;
  return kFence.test(line) || kHeading.test(line) || kQuote.test(line) || kRule.test(line);
}

class Blocks {
  #at = 0;

  constructor(private readonly lines: readonly string[], private readonly depth: number) {}

  // The next block, and how many lines were read; undefined at the end.
  next(): {block: Block; first: number; end: number} | undefined {
    while (this.#at < this.lines.length && isBlank(this.lines[this.#at]!)) ++this.#at;
    if (this.#at >= this.lines.length) return undefined;
    const first = this.#at;
    const block = this.#read(this.lines[first]!);
    return {block, first, end: this.#at};
  }

  #read(line: string): Block {
    const fence = kFence.exec(line);
    if (fence) return this.#code(fence[1]!, fence[2]!, indentOf(line));
    const heading = kHeading.exec(line);
    if (heading) {
      ++this.#at;
      return {kind: "heading", level: heading[1]!.length, text: line.slice(heading[0].length).trim().replace(/(?:^|[ \t])#{1,6}$/, "")};
    }
    if (kRule.test(line)) {
      ++this.#at;
      return {kind: "rule"};
    }
    if (this.depth < kMostDepth && kQuote.test(line)) return this.#quote();
    const item = this.depth < kMostDepth ? kItem.exec(line) : null;
    if (item) return this.#list(item);
    if (line.includes("|")) {
      const head = cells(line);
      const align = alignment(this.lines[this.#at + 1], head.length);
      if (align) return this.#table(head, align);
    }
    return this.#paragraph();
  }

  #code(fence: string, info: string, indent: number): Block {
    const text: string[] = [];
    for (++this.#at; this.#at < this.lines.length; ++this.#at) {
      const line = this.lines[this.#at]!;
      const close = kFence.exec(line);
      if (close && close[1]![0] === fence[0] && close[1]!.length >= fence.length && close[2]!.trim() === "") {
        ++this.#at;
        return {kind: "code", language: languageOf(info), text: text.join("\n"), open: false};
      }
      text.push(line.slice(Math.min(indent, indentOf(line))));
    }
    return {kind: "code", language: languageOf(info), text: text.join("\n"), open: true};
  }

  #quote(): Block {
    const inside: string[] = [];
    for (; this.#at < this.lines.length; ++this.#at) {
      const mark = kQuote.exec(this.lines[this.#at]!);
      if (!mark) break;
      inside.push(this.lines[this.#at]!.slice(mark[0].length));
    }
    return {kind: "quote", blocks: blocksOf(inside, this.depth + 1)};
  }

  #list(first: RegExpExecArray): Block {
    const base = first[1]!.length;
    const kind = first[2]!.slice(-1);
    const items: ListItem[] = [];
    let loose = false;
    for (let item: RegExpExecArray | null = first; item && item[2]!.slice(-1) === kind && item[1]!.length <= base + 1 && !kRule.test(item.input);) {
      const width = item[0].length || 1;
      const inside = [item.input.slice(width)];
      let blank = false;
      let last = ++this.#at;  // behind the last line that is not blank
      for (; this.#at < this.lines.length; ++this.#at) {
        const line = this.lines[this.#at]!;
        if (isBlank(line)) {
          blank = true;
          inside.push("");
          continue;
        }
        const indent = indentOf(line);
        // Models indent by two or by the width of the mark; both are inside.
        if (indent < Math.min(width, base + 2) && (blank || begins(line) || kItem.test(line))) break;
        inside.push(line.slice(Math.min(indent, width)));
        last = this.#at + 1;
        if (blank) loose = true;
        blank = false;
      }
      const next = this.#at < this.lines.length ? kItem.exec(this.lines[this.#at]!) : null;
      const isSame: boolean = next !== null && next[2]!.slice(-1) === kind;
      if (isSame && blank) loose = true;
      if (!isSame) this.#at = last;
      const task = kTask.exec(inside[0]!);
      if (task) inside[0] = inside[0]!.slice(task[0].length);
      items.push({checked: task ? task[1] !== " " : undefined, blocks: blocksOf(inside, this.depth + 1)});
      item = isSame ? next : null;
    }
    return {kind: "list", ordered: first[3] !== undefined, start: Number(first[3] ?? 1), loose, items};
  }

  #table(head: string[], align: Align[]): Block {
    const rows: string[][] = [];
    for (this.#at += 2; this.#at < this.lines.length; ++this.#at) {
      const line = this.lines[this.#at]!;
      if (isBlank(line) || !line.includes("|")) break;
      rows.push(cells(line).slice(0, head.length));
    }
    return {kind: "table", align, head, rows};
  }

  #paragraph(): Block {
    const first = this.#at;
    for (++this.#at; this.#at < this.lines.length; ++this.#at) {
      const line = this.lines[this.#at]!;
      if (isBlank(line) || begins(line)) break;
      if (line.includes("|") && alignment(this.lines[this.#at + 1], cells(line).length)) break;
    }
    return {kind: "paragraph", text: this.lines.slice(first, this.#at).map((line) => line.trimStart()).join("\n").trimEnd()};
  }
}

const languageOf = (info: string): string => (info.trim().split(/\s/, 1)[0] ?? "").slice(0, kMostLanguage);

// Tabs at the beginning of a line become spaces, so that indentation is a number.
function linesOf(text: string): string[] {
  return text.replace(/\r\n?/g, "\n").split("\n").map((line) => (line.startsWith("\t") || line.startsWith(" ") ? line.replace(/^[ \t]+/, (lead) => lead.replaceAll("\t", "    ")) : line));
}

function blocksOf(lines: readonly string[], depth: number): Block[] {
  const reader = new Blocks(lines, depth);
  const all: Block[] = [];
  for (let next = reader.next(); next; next = reader.next()) all.push(next.block);
  return all;
}

export function parseMarkdown(text: string): TopBlock[] {
  const lines = linesOf(text);
  const reader = new Blocks(lines, 0);
  const all: TopBlock[] = [];
  for (let next = reader.next(); next; next = reader.next()) all.push({source: lines.slice(next.first, next.end).join("\n"), block: next.block});
  return all;
}
