// The page's location, kept only in the address, so that every view, filter and moment can be linked, reloaded and
// revisited.
//   /                       the fleet; state, agent, text, group narrow it
//   /?task=ID&at=N          a task; with `at`, the moment of event N
//   /?chat=ID               a chat session, which is a task; with `at`, its event N
//   /?view=metrics|search|findings|new|chat
import {computed, signal} from "@preact/signals";

export type View = "fleet" | "task" | "metrics" | "search" | "findings" | "new" | "chat";

const kViews: readonly string[] = ["metrics", "search", "findings", "new", "chat"];
const address = signal(location.search);

export const params = computed(() => new URLSearchParams(address.value));
export const view = computed<View>(() => {
  if (params.value.get("task")) return "task";
  if (params.value.get("chat")) return "chat";
  const named = params.value.get("view") ?? "";
  return kViews.includes(named) ? (named as View) : "fleet";
});
export const taskID = computed(() => params.value.get("task") ?? "");
export const chatID = computed(() => (params.value.get("task") ? "" : params.value.get("chat") ?? ""));
export const at = computed(() => {
  const number = Number(params.value.get("at"));
  return Number.isInteger(number) && number > 0 ? number : undefined;
});

export type Target = Record<string, string | number | undefined>;

export function href(target: Target): string {
  const next = new URLSearchParams();
  for (const [name, value] of Object.entries(target)) if (value !== undefined && value !== "") next.set(name, String(value));
  const text = next.toString();
  return text ? "/?" + text : "/";
}

// A task's own view: a chat is read as a conversation, anything else as a log.
export const kChatAgent = "chat";
export const taskHref = (id: string, agent: string | undefined, at?: number): string => href(agent === kChatAgent ? {chat: id, at} : {task: id, at});

export function go(target: Target | string, replace = false): void {
  const to = typeof target === "string" ? target : href(target);
  if (to === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  address.value = location.search;
}

// Changes some parameters of the current view.
export function change(changes: Target, replace = true): void {
  go({...Object.fromEntries(params.value), ...changes}, replace);
}

export function watchAddress(): void {
  addEventListener("popstate", () => { address.value = location.search; });
  document.addEventListener("click", (click) => {
    if (click.defaultPrevented || click.button !== 0 || click.metaKey || click.ctrlKey || click.shiftKey || click.altKey) return;
    const link = (click.target as Element).closest?.("a");
    if (!link || link.target || link.origin !== location.origin || link.pathname !== "/") return;
    click.preventDefault();
    go(link.pathname + link.search);
  });
}
