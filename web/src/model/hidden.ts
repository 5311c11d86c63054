// Text of an agent in which nothing can hide. Characters that a screen does not show (controls, direction changes, joiners,
// fillers, variation selectors) are told apart from the others and written as escapes, such as \u202e. Pure and linear.

export interface Piece {
  text: string;
  hidden: boolean;  // an escape that stands for characters that are not seen
}

// Beyond so many pieces they are joined to one: no text may cost a page more elements than this.
const kMostPieces = 1000;

const kUnseen = "\\p{Default_Ignorable_Code_Point}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\u2800\\ufff9-\\ufffb";
// Spaces that look like the usual one separate nothing in a shell.
const kExact = new RegExp(`[${kUnseen}\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000]+`, "gu");
const kProse = new RegExp(`[${kUnseen}\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]`, "gu");

// Where a joiner, a non-joiner or an emoji's own selector belongs to the writing around it.
const kJoins = ["Arabic", "Syriac", "Mongolian", "Devanagari", "Bengali", "Gurmukhi", "Gujarati", "Oriya", "Tamil", "Telugu", "Kannada", "Malayalam",
  "Sinhala", "Khmer", "Myanmar", "Tibetan"].map((script) => `\\p{Script=${script}}`).join("");
const kBelongs = new RegExp(
  `(?<=[${kJoins}])[\\u200c\\u200d](?=[${kJoins}])` +
  "|(?<=[\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=\\p{Extended_Pictographic})" +
  "|(?<=\\p{Emoji})[\\ufe0e\\ufe0f]", "yu");

const kColour = /(?:\u001b\[|\u009b)[0-9;:]*m/g;

function escaped(hidden: string): string {
  let out = "";
  for (const character of hidden) {
    const code = character.codePointAt(0)!;
    out += code === 13 ? "\\r" : code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
  }
  return out;
}

function belongs(text: string, at: number): boolean {
  kBelongs.lastIndex = at;
  return kBelongs.test(text);
}

function cutAtHidden(text: string, pattern: RegExp, mayBelong: boolean): Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  const push = (piece: string, hidden: boolean) => {
    const last = pieces[pieces.length - 1];
    if (!piece) return;
    if (last && (last.hidden === hidden || pieces.length >= kMostPieces)) last.text += piece;
    else pieces.push({text: piece, hidden});
  };
  for (const match of text.matchAll(pattern)) {
    if (mayBelong && belongs(text, match.index)) continue;
    push(text.slice(from, match.index), false);
    push(escaped(match[0]), true);
    from = match.index + match[0].length;
  }
  push(text.slice(from), false);
  return pieces;
}

// What runs or is decided on: every character that is not seen is escaped.
export const exactPieces = (text: string): Piece[] => cutAtHidden(text, kExact, false);

// What is read: a terminal's colours go, and languages and emoji keep what they are written with.
export const prosePieces = (text: string): Piece[] => cutAtHidden(text.replace(kColour, "").replace(/\r\n/g, "\n"), kProse, true);

const joined = (pieces: Piece[]) => pieces.map((piece) => piece.text).join("");
export const exactText = (text: string): string => joined(exactPieces(text));

// One line for where only plain text goes: titles, notifications, labels, names of lines in a chart.
export const plainLine = (text: string): string => joined(prosePieces(text)).replace(/\s+/g, " ").trim();

// JSON in which nothing hides and which is the same value as before.
export function escapedJson(json: string): string {
  return json.replace(kExact, (found) =>
    Array.from({length: found.length}, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""));
}
