// Orders the items that need a person without moving them under a pointer. While a person points at the list or types
// in it, items keep their places and new ones come last. Settled items stay for a moment, marked. Pure.

export const kStayMs = 2000;

export interface Shown<T> {
  item: T;
  key: string;
  goneAt: number | undefined;  // since when it no longer needs a person
}

export function arranged<T>(before: readonly Shown<T>[], items: readonly {key: string; item: T}[], isHeld: boolean, now: number): Shown<T>[] {
  const fresh = new Map(items.map((each) => [each.key, each.item]));
  const kept = before.map((each): Shown<T> => {
    const item = fresh.get(each.key);
    return item === undefined ? {...each, goneAt: each.goneAt ?? now} : {item, key: each.key, goneAt: undefined};
  });
  const stays = isHeld || kept.some((each) => each.goneAt !== undefined && now - each.goneAt < kStayMs);
  if (!stays) return items.map(({key, item}) => ({item, key, goneAt: undefined}));
  const known = new Set(before.map((each) => each.key));
  return [...kept, ...items.filter(({key}) => !known.has(key)).map(({key, item}): Shown<T> => ({item, key, goneAt: undefined}))];
}
