// Unfinished text that also survives a reload of the tab. It stays in this tab.
import {useState} from "preact/hooks";

const kPrefix = "shepherd.draft.";
const held = new Map<string, string>();  // for a browser without storage

export function readDraft(name: string): string {
  try {
    return sessionStorage.getItem(kPrefix + name) ?? "";
  } catch {
    return held.get(name) ?? "";
  }
}

export function keepDraft(name: string, text: string): void {
  held.set(name, text);
  try {
    if (text) sessionStorage.setItem(kPrefix + name, text);
    else sessionStorage.removeItem(kPrefix + name);
  } catch {
    // The text lasts until the page is closed.
  }
}

export function useKeptDraft(name: string): [string, (text: string) => void] {
  const [shown, show] = useState<{name: string; text: string} | null>(null);
  return [shown?.name === name ? shown.text : readDraft(name), (text) => {
    keepDraft(name, text);
    show({name, text});
  }];
}
