// Keeps unfinished text while the person looks at another view.
import {useState} from "preact/hooks";

const drafts = new Map<string, unknown>();

export function useDraft<T>(name: string, empty: T): [T, (value: T) => void] {
  const [shown, show] = useState<{name: string; value: T} | null>(null);
  const value = shown?.name === name ? shown.value : drafts.has(name) ? (drafts.get(name) as T) : empty;
  return [value, (next) => {
    if (next === empty) drafts.delete(name);
    else drafts.set(name, next);
    show({name, value: next});
  }];
}
