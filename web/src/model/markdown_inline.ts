// The inline part of Markdown: code, emphasis, links. Linear in the length of the text, whatever it contains: every
// character is looked at a bounded number of times, and nothing is recursive. What is not understood stays text.

export type Inline =
  | {kind: "text"; text: string}
  | {kind: "code"; text: string}
  | {kind: "break"}
  | {kind: "strong" | "em" | "strike"; children: Inline[]}
  | {kind: "link"; url: string; children: Inline[]};

export const kMostDepth = 16;      // of emphasis and links inside each other
const kMostAddress = 2000;         // characters of a link's address

// A piece of the text before pairs are known: finished, a mark that may open or close, or a bracket.
type Token =
  | {kind: "done"; inline: Inline}
  | {kind: "mark"; mark: Mark; text: string; opens: boolean; closes: boolean}
  | {kind: "open"; text: string}
  | {kind: "close"; url: string; text: string};

type Mark = "*" | "_" | "**" | "__" | "~~";
const kMeaning: Record<Mark, "em" | "strong" | "strike"> = {"*": "em", "_": "em", "**": "strong", "__": "strong", "~~": "strike"};

const isSpace = (character: string | undefined) => character === undefined || /\s/.test(character);
const isWord = (character: string | undefined) => character !== undefined && /[\p{L}\p{N}]/u.test(character);
const kEscapable = /[!-/:-@[-`{-~]/;

// Where runs of backticks of each length begin, so that finding a closing run never searches.
function backtickRuns(text: string): Map<number, number[]> {
  const runs = new Map<number, number[]>();
  for (const match of text.matchAll(/`+/g)) {
    const list = runs.get(match[0].length);
    if (list) list.push(match.index);
    else runs.set(match[0].length, [match.index]);
  }
  return runs;
}

class Scanner {
  readonly tokens: Token[] = [];
  #from = 0;  // of the plain text that is not a token yet
  #at = 0;
  #runs: Map<number, number[]>;
  #plain = "";

  constructor(private readonly text: string) {
    this.#runs = backtickRuns(text);
  }

  scan(): Token[] {
    const {text} = this;
    const special = /[\\`*_~[\]!\n<h]/g;
    while (this.#at < text.length) {
      special.lastIndex = this.#at;
      const found = special.exec(text);
      if (!found) break;
      this.#at = found.index;
      this.#step(found[0]);
    }
    this.#at = text.length;
    this.#flush(text.length);
    return this.tokens;
  }

  #flush(upTo: number): void {
    this.#plain += this.text.slice(this.#from, upTo);
    if (this.#plain) this.tokens.push({kind: "done", inline: {kind: "text", text: this.#plain}});
    this.#plain = "";
    this.#from = upTo;
  }

  #put(token: Token, next: number): void {
    this.#flush(this.#at);
    this.tokens.push(token);
    this.#at = this.#from = next;
  }

  #step(character: string): void {
    const {text} = this;
    const at = this.#at;
    switch (character) {
      case "\\": {
        const next = text[at + 1];
        if (next === undefined || !kEscapable.test(next)) break;
        this.#plain += text.slice(this.#from, at) + next;
        this.#at = this.#from = at + 2;
        return;
      }
      case "\n":
        this.#plain += text.slice(this.#from, at).replace(/[ \\]{1,8}$/, "");
        this.#from = at;
        return this.#put({kind: "done", inline: {kind: "break"}}, at + 1);
      case "`": return this.#code();
      case "*": case "_": case "~": return this.#mark(character);
      case "[": return this.#put({kind: "open", text: "["}, at + 1);
      case "!":
        if (text[at + 1] !== "[") break;
        return this.#put({kind: "open", text: "!["}, at + 2);
      case "]": return this.#close();
      case "<": case "h": return this.#address(character);
    }
    ++this.#at;
  }

  #code(): void {
    const {text} = this;
    let end = this.#at;
    while (text[end] === "`") ++end;
    const length = end - this.#at;
    const places = this.#runs.get(length) ?? [];
    let low = 0;
    for (let high = places.length; low < high;) {
      const half = (low + high) >> 1;
      if (places[half]! < end) low = half + 1;
      else high = half;
    }
    const close = places[low];
    if (close === undefined) {
      this.#at = end;
      return;
    }
    const inside = text.slice(end, close).replace(/\n/g, " ");
    const padded = inside.length > 2 && inside.startsWith(" ") && inside.endsWith(" ") && inside.trim() !== "";
    this.#put({kind: "done", inline: {kind: "code", text: padded ? inside.slice(1, -1) : inside}}, close + length);
  }

  #mark(character: string): void {
    const {text} = this;
    const begin = this.#at;
    let end = begin;
    while (text[end] === character) ++end;
    const [before, after] = [text[begin - 1], text[end]];
    const inWord = isWord(before) && isWord(after);
    const opens = !isSpace(after) && !(character === "_" && inWord);
    const closes = !isSpace(before) && !(character === "_" && inWord);
    if ((!opens && !closes) || (character === "~" && end - begin !== 2) || end - begin > 3) {
      this.#at = end;
      return;
    }
    const marks = (end - begin === 3 ? [character.repeat(2), character] : [text.slice(begin, end)]) as Mark[];
    // Three marks are two pairs; the order in which they close is the reverse of the one in which they open.
    if (marks.length === 2 && !opens) marks.reverse();
    for (const mark of marks) this.#put({kind: "mark", mark, text: mark, opens, closes}, this.#at + mark.length);
  }

  #close(): void {
    const {text} = this;
    const at = this.#at;
    if (text[at + 1] !== "(") return this.#put({kind: "close", url: "", text: "]"}, at + 1);
    const begin = at + 2;
    let end = begin;
    for (let depth = 0; end < text.length && end - begin < kMostAddress; ++end) {
      const character = text[end]!;
      if (character === "(" && ++depth > 1) return this.#put({kind: "close", url: "", text: "]"}, at + 1);
      if (character === ")" && --depth < 0) break;
      if (/[\s<>[\]]/.test(character)) break;
    }
    let close = end;
    // A title in quotes is left out, like the rest of the markup.
    if (text[close] === " " && text[close + 1] === '"') {
      const quote = text.slice(close + 2, close + 2 + 200).search(/"\)/);
      if (quote >= 0) close += 3 + quote;
    }
    if (text[close] !== ")") return this.#put({kind: "close", url: "", text: "]"}, at + 1);
    this.#put({kind: "close", url: text.slice(begin, end), text: text.slice(at, close + 1)}, close + 1);
  }

  // An address that stands alone, in angle brackets or bare.
  #address(character: string): void {
    const {text} = this;
    const begin = character === "<" ? this.#at + 1 : this.#at;
    if (!/^https?:\/\/[^\s/]/.test(text.slice(begin, begin + 10)) || (character === "h" && isWord(text[begin - 1]))) {
      ++this.#at;
      return;
    }
    let end = begin;
    while (end < text.length && end - begin < kMostAddress && !/[\s<>"`]/.test(text[end]!)) ++end;
    if (character === "<") {
      if (text[end] !== ">") {
        ++this.#at;
        return;
      }
      const url = text.slice(begin, end);
      return this.#put({kind: "done", inline: {kind: "link", url, children: [{kind: "text", text: url}]}}, end + 1);
    }
    let url = text.slice(begin, end).replace(/[.,;:!?'*_~\]]{1,20}$/, "");
    if (url.endsWith(")") && !url.includes("(")) url = url.replace(/\){1,20}$/, "");
    this.#put({kind: "done", inline: {kind: "link", url, children: [{kind: "text", text: url}]}}, begin + url.length);
  }
}

// An element that is open while the tokens are read.
interface Frame {
  opener: "root" | "[" | "![" | Mark;
  text: string;  // what it is if it never closes
  children: Inline[];
}

function push(children: Inline[], inline: Inline): void {
  const last = children[children.length - 1];
  if (inline.kind === "text" && last?.kind === "text") last.text += inline.text;
  else children.push(inline.kind === "text" ? {...inline} : inline);
}

export function parseInline(text: string): Inline[] {
  const frames: Frame[] = [{opener: "root", text: "", children: []}];
  const open = new Map<string, number>();  // how many frames of a kind are open
  const top = () => frames[frames.length - 1]!;
  const enter = (opener: Frame["opener"], words: string) => {
    frames.push({opener, text: words, children: []});
    open.set(opener, (open.get(opener) ?? 0) + 1);
  };
  const leave = (): Frame => {
    const frame = frames.pop()!;
    open.set(frame.opener, (open.get(frame.opener) ?? 0) - 1);
    return frame;
  };
  // Frames above the one that closes never closed: they are text and their children.
  const fold = () => {
    const frame = leave();
    push(top().children, {kind: "text", text: frame.text});
    for (const child of frame.children) push(top().children, child);
  };
  const isOpen = (opener: string) => (open.get(opener) ?? 0) > 0;
  for (const token of new Scanner(text).scan()) {
    switch (token.kind) {
      case "done":
        push(top().children, token.inline);
        break;
      case "open":
        if (frames.length <= kMostDepth) enter(token.text as "[" | "![", token.text);
        else push(top().children, {kind: "text", text: token.text});
        break;
      case "close": {
        if (!isOpen("[") && !isOpen("![")) {
          push(top().children, {kind: "text", text: token.text});
          break;
        }
        while (top().opener !== "[" && top().opener !== "![") fold();
        if (!token.url) {
          fold();
          push(top().children, {kind: "text", text: token.text});
          break;
        }
        const frame = leave();
        push(top().children, {kind: "link", url: token.url, children: frame.opener === "![" ? [{kind: "text", text: "image: "}, ...frame.children] : frame.children});
        break;
      }
      case "mark":
        if (token.closes && isOpen(token.mark)) {
          while (top().opener !== token.mark) fold();
          const frame = leave();
          if (frame.children.length > 0) push(top().children, {kind: kMeaning[token.mark], children: frame.children});
          else push(top().children, {kind: "text", text: frame.text + token.text});
        } else if (token.opens && frames.length <= kMostDepth) {
          enter(token.mark, token.text);
        } else {
          push(top().children, {kind: "text", text: token.text});
        }
        break;
    }
  }
  while (frames.length > 1) fold();
  return frames[0]!.children;
}
