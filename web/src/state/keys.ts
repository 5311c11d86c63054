// The keyboard. A view adds its own keys while it is shown; keys typed into a field are never commands.
import {signal} from "@preact/signals";
import {go, href} from "./route";

export const helpOpen = signal(false);

// People who speak to their computer, or whose hands shake, press keys that they do not mean. They can turn them off.
const kStored = "shepherd.keys";
const kOff = "off";
function areStoredOff(): boolean {
  try {
    return localStorage.getItem(kStored) === kOff;
  } catch {
    return false;
  }
}
export const keysOn = signal(!areStoredOff());
export function turnKeys(on: boolean): void {
  keysOn.value = on;
  try {
    if (on) localStorage.removeItem(kStored);
    else localStorage.setItem(kStored, kOff);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

export interface Key {
  key: string;          // as KeyboardEvent.key; "g f" is a sequence
  does: string;
  act(): void;
}

const kGlobal: Key[] = [
  {key: "g f", does: "fleet", act: () => go("/")},
  {key: "g m", does: "metrics", act: () => go(href({view: "metrics"}))},
  {key: "g s", does: "search", act: () => go(href({view: "search"}))},
  {key: "g i", does: "findings", act: () => go(href({view: "findings"}))},
  {key: "g n", does: "new task", act: () => go(href({view: "new"}))},
  {key: "g c", does: "new chat", act: () => go(href({view: "chat"}))},
  {key: "/", does: "to the filter or search field", act: () => document.querySelector<HTMLInputElement>("[data-find]")?.focus()},
  {key: "?", does: "these keys", act: () => { helpOpen.value = !helpOpen.value; }},
];

const sets: Key[][] = [kGlobal];

export function addKeys(keys: Key[]): () => void {
  sets.push(keys);
  return () => { sets.splice(sets.indexOf(keys), 1); };
}

export const allKeys = (): Key[] => sets.flat();

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches("input:not([type=checkbox]):not([type=radio]), textarea, select") || target.isContentEditable);
}

let before = "";
export function startKeys(): void {
  document.addEventListener("keydown", (press) => {
    if (press.ctrlKey || press.metaKey || press.altKey) return;
    if (press.key === "Escape") {
      if (helpOpen.value) helpOpen.value = false;
      else if (isTyping(press.target)) (press.target as HTMLElement).blur();
    }
    if (isTyping(press.target) || !keysOn.value) return;
    // The newest set wins, so that a view can override a key.
    const found = [...sets].reverse().flat().find((each) => each.key === (before ? `${before} ${press.key}` : press.key));
    const onControl = press.target instanceof HTMLElement && press.target.matches("a, button, summary, input, [role=slider]");
    before = !before && press.key === "g" ? "g" : "";
    if (!found || (onControl && (press.key === "Enter" || press.key === " "))) return;
    press.preventDefault();
    found.act();
  });
}
