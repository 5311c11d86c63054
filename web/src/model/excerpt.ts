// The beginning of a long text, limited to screen rows, and its total size. Linear, however long a line is.
const kRow = 160;  // assumed characters per row

export interface Excerpt {
  text: string;
  whole: boolean;
  lines: number;       // of the whole text
  shownLines: number;  // of this part; the last one may be cut
}

export function linesIn(text: string): number {
  let lines = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) ++lines;
  return lines;
}

export function excerpt(text: string, rows: number): Excerpt {
  const lines = linesIn(text);
  let from = 0;
  let shownLines = 0;
  for (let left = rows; left > 0 && from <= text.length;) {
    const end = text.indexOf("\n", from);
    const stop = end < 0 ? text.length : end;
    const needs = Math.max(1, Math.ceil((stop - from) / kRow));
    ++shownLines;
    if (needs > left) return {text: atCharacter(text, from + left * kRow), whole: false, lines, shownLines};
    left -= needs;
    from = stop + 1;
  }
  return from > text.length ? {text, whole: true, lines, shownLines: lines} : {text: text.slice(0, from - 1), whole: false, lines, shownLines};
}

// Never splits a surrogate pair.
function atCharacter(text: string, at: number): string {
  const code = text.charCodeAt(at - 1);
  return text.slice(0, code >= 0xd800 && code < 0xdc00 ? at - 1 : at);
}
