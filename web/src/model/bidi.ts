// Text of an agent in which nothing can hide: direction controls and invisible characters become visible marks, so that
// what is read is what is there. (A filename that reads "txt.exe" backwards, a command with a hidden half.)
const kHidden = /[\u200b-\u200f\u2028-\u202e\u2060-\u2069\u061c\ufeff\u00ad\u180e]|[\u{e0000}-\u{e007f}]/gu;

// The same inside JSON: as escapes, so that it stays the JSON it was.
export function withEscapedControls(json: string): string {
  return json.replace(kHidden, (found) => Array.from({length: found.length}, (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, "0")}`).join(""));
}

export function withVisibleControls(text: string): string {
  return text.replace(kHidden, (found) => `⟨U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}
