// Splits a text where a search word begins. Every second piece is such a word. Pure.

export function markedPieces(text: string, query: string): string[] {
  const words = query.toLowerCase().match(/-?[\p{L}\p{N}_.]+/gu)?.filter((word) => !word.startsWith("-") && word !== "or") ?? [];
  if (words.length === 0) return [text];
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  // As in the search index, a word begins after any character that is neither letter nor digit.
  return text.split(new RegExp(`(?<![\\p{L}\\p{N}])(${escaped.join("|")})`, "giu"));
}
