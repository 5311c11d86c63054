// The items that need a person now, in the server's order. The tab's title and, if allowed, a notification show them.
import {effect, signal} from "@preact/signals";
import {api, ApiError} from "../api/client";
import type {Inbox, InboxItem} from "../api/contract";
import {plainLine} from "../model/hidden";
import {onCatchUp, onMessage} from "./live";
import {go} from "./route";

export const inbox = signal<Inbox>({items: [], total: 0});
export const inboxRead = signal(false);
// Set when the server has no inbox. The page says so, so that it is not mistaken for "nothing needs you".
export const inboxMissing = signal("");

// keyOf identifies a need; timeOf also identifies its occurrence, because a need can recur.
export const keyOf = (item: InboxItem): string => `${item.taskID}/${item.kind}/${item.approval?.approvalID ?? ""}`;
const timeOf = (item: InboxItem): string => `${keyOf(item)}/${item.sequence}`;
let known: Set<string> | null = null;

function notify(items: InboxItem[]): void {
  const fresh = known === null ? [] : items.filter((item) => !known!.has(timeOf(item)));
  known = new Set(items.map(timeOf));
  const first = fresh[0];
  if (!first || !document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
  const note = new Notification(fresh.length > 1 ? `${fresh.length} tasks need you` : `${plainLine(first.title)} needs you`, {
    body: plainLine(first.summary), tag: "shepherd-inbox",
  });
  note.onclick = () => {
    window.focus();
    go(fresh.length > 1 ? "/" : {task: first.taskID});
    note.close();
  };
}

let reading = false;
let again = false;
export async function refreshInbox(): Promise<void> {
  if (reading) {
    again = true;
    return;
  }
  reading = true;
  try {
    const answer = await api.get<Inbox>("/inbox");
    inbox.value = answer;
    inboxRead.value = true;
    inboxMissing.value = "";
    notify(answer.items);
  } catch (error) {
    if (error instanceof ApiError && error.isMissing) inboxMissing.value = "This server has no inbox, so nothing is pinned here: look for the states below.";
    else throw error;
  } finally {
    reading = false;
    if (again) {
      again = false;
      void refreshInbox().catch(() => {});
    }
  }
}

export const canAskToNotify = () => "Notification" in window && Notification.permission === "default";
export const notifyChoice = signal("Notification" in window ? Notification.permission : "denied");
export async function askToNotify(): Promise<void> {
  notifyChoice.value = await Notification.requestPermission();
}

export function startInbox(title: () => string): void {
  onCatchUp(refreshInbox);
  onMessage((message) => {
    if (message.type === "inbox_update") void refreshInbox().catch(() => {});
  });
  effect(() => {
    const total = inbox.value.total;
    document.title = plainLine(`${total > 0 ? `(${total}) ` : ""}${title()}`);
  });
}
