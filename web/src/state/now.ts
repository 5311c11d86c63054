// The page's clock: one tick a second for everything that counts time.
import {signal} from "@preact/signals";

export const now = signal(Date.now());

export function startClock(): void {
  setInterval(() => { if (!document.hidden) now.value = Date.now(); }, 1000);
  document.addEventListener("visibilitychange", () => { now.value = Date.now(); });
}
