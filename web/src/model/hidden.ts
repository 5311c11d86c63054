// Shows hidden characters in an agent's text. Characters that a screen does not show (controls, direction changes,
// joiners, fillers, variation selectors) become escapes such as \u202e. Pure and linear.

export interface Piece {
  text: string;
  hidden: boolean;  // an escape that stands for invisible characters
}

// Beyond this many pieces the rest is one piece, which bounds the elements that a text can add to a page.
const kMostPieces = 1000;

const kUnseen = "\\p{Default_Ignorable_Code_Point}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\u2800\\ufff9-\\ufffb";
// A shell does not split at spaces that only look like the usual one.
const kExact = new RegExp(`[${kUnseen}\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000]+`, "gu");
const kProse = new RegExp(`[${kUnseen}\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]`, "gu");

// Scripts and emoji in which a joiner, a non-joiner or a selector belongs to the text around it.
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

// For text that runs or is decided on: escapes every invisible character.
export const exactPieces = (text: string): Piece[] => cutAtHidden(text, kExact, false);

// For text that is read: drops terminal colours and keeps the characters that languages and emoji need.
export const prosePieces = (text: string): Piece[] => cutAtHidden(text.replace(kColour, "").replace(/\r\n/g, "\n"), kProse, true);

const joined = (pieces: Piece[]) => pieces.map((piece) => piece.text).join("");
export const exactText = (text: string): string => joined(exactPieces(text));

// One line for places that take only plain text: titles, notifications, labels, chart legends.
export const plainLine = (text: string): string => joined(prosePieces(text)).replace(/\s+/g, " ").trim();

// Escapes the hidden characters of JSON without changing its value.
export function escapedJson(json: string): string {
  return json.replace(kExact, (found) =>
    Array.from({length: found.length}, (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""));
}
