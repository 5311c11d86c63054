// The marks of a time bar as one path for each kind, whatever their number. Pure.
const kShapes = {error: [0, "l3 6h-6z"], failed: [0, "l3 6h-6z"], approval: [8, "l3.5 4l-3.5 4l-3.5 -4z"], command: [18, "m-1 0h2v6h-2z"], result: [3, "m-3 0l2 3l4 -6"]} as const;
export type MarkKind = keyof typeof kShapes;
const isKnown = (kind: string): kind is MarkKind => Object.hasOwn(kShapes, kind);

export interface Mark {
  kind: string;
  place: number;  // 0 to 1
}

// In pixels of a bar of this width. Marks of a kind at the same pixel are drawn once; an unknown kind looks like a command.
export function markPaths(marks: readonly Mark[], width: number): {kind: MarkKind; path: string}[] {
  const places = new Map<MarkKind, Set<number>>();
  for (const {kind, place} of marks) {
    const known = isKnown(kind) ? kind : "command";
    const at = Math.round(place * width);
    const set = places.get(known);
    if (set) set.add(at);
    else places.set(known, new Set([at]));
  }
  return [...places].map(([kind, set]) => ({kind, path: [...set].map((x) => `M${x} ${kShapes[kind][0] + 1}${kShapes[kind][1]}`).join("")}));
}
