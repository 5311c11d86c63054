// The tab's connection in the browser. The view determines what it follows: rows of all tasks, or one task's log. Both
// also carry inbox updates.
import {effect, signal} from "@preact/signals";
import type {StreamMessage} from "../api/types";
import {Connection, type LiveState} from "../live/connection";
import {findOutWho, loggedOut} from "./session";

export const live = signal<{state: LiveState; since: number; reason: string}>({state: "connecting", since: Date.now(), reason: ""});

type OnMessage = (message: StreamMessage) => void;
const listeners = new Set<OnMessage>();
const catchers = new Set<() => Promise<void>>();

export function onMessage(listener: OnMessage): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// Called each time the connection opens, to read what was missed.
export function onCatchUp(read: () => Promise<void>): () => void {
  catchers.add(read);
  return () => catchers.delete(read);
}

const connection = new Connection(
  {
    open: (path) => {
      const scheme = location.protocol === "https:" ? "wss:" : "ws:";
      return new WebSocket(`${scheme}//${location.host}${path}`);
    },
    now: () => Date.now(),
    random: () => Math.random(),
    after: (ms, act) => {
      const timer = setTimeout(act, ms);
      return () => clearTimeout(timer);
    },
  },
  {
    catchUp: async () => { await Promise.all([...catchers].map((read) => read())); },
    message: (message) => listeners.forEach((listener) => listener(message)),
    state: (state, since, reason) => {
      const before = live.peek();
      // "Disconnected since" counts from the first failure, not from the last attempt.
      const isRetry = before.state === "disconnected" && (state === "connecting" || state === "disconnected" || state === "catching_up");
      if (isRetry && state !== "catching_up") live.value = {...before, reason: reason || before.reason};
      else live.value = {state, since, reason};
    },
    notOpened: (times) => { if (times % kAskEvery === 0) void findOutWho(); },
  });

const kAskEvery = 2;  // failed attempts before checking whether the session is still valid

export function followView(task: () => string): void {
  effect(() => {
    if (loggedOut.value) return connection.stop();
    const id = task();
    // task_update carries rows whatever the filter, and the fleet needs no other task's events.
    connection.follow(id ? `/api/v1/events?tasks=${encodeURIComponent(id)}&deltas=1` : "/api/v1/events?types=approval");
  });
  addEventListener("online", () => connection.wake());
  document.addEventListener("visibilitychange", () => { if (!document.hidden) connection.wake(); });
}
