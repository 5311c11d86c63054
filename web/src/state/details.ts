// Full contents and raw records, read on demand. Contents are cached up to a number of bytes. Failures are cached, too,
// and retried only on request or after some time.
import {signal, type Signal} from "@preact/signals";
import {useEffect, useRef} from "preact/hooks";
import {api, ApiError} from "../api/client";
import type {JsonObject} from "../api/types";

export interface Detail {
  state: "unread" | "reading" | "there" | "none" | "failed";
  value: JsonObject;
  error: string;
}

interface Entry {
  shown: Signal<Detail>;
  bytes: number;
  failures: number;
  again: number;  // time of the next attempt, at the earliest
}

const kMostBytes = 32 * 1024 * 1024;
const kEntryBytes = 500;  // assumed size of an entry without contents
const kFirstPauseMs = 10_000;
const kLongestPauseMs = 300_000;
const kUnread: Detail = {state: "unread", value: {}, error: ""};

const known = new Map<string, Entry>();  // the most recently used entry is last
let held = 0;

function entryOf(task: string, sequence: number): Entry {
  const key = `${task}/${sequence}`;
  const entry = known.get(key) ?? {shown: signal(kUnread), bytes: kEntryBytes, failures: 0, again: 0};
  if (!known.delete(key)) held += entry.bytes;
  known.set(key, entry);
  return entry;
}

function makeRoom(): void {
  for (const [key, entry] of known) {
    if (held <= kMostBytes || known.size <= 1) return;
    known.delete(key);
    held -= entry.bytes;
  }
}

async function read(entry: Entry, task: string, sequence: number): Promise<void> {
  entry.shown.value = {...kUnread, state: "reading"};
  try {
    const {value, bytes} = await api.detail(task, sequence);
    entry.failures = 0;
    if (known.get(`${task}/${sequence}`) === entry) held += bytes;
    entry.bytes += bytes;
    entry.shown.value = {state: "there", value, error: ""};
    makeRoom();
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 410)) {
      entry.shown.value = {state: "none", value: {}, error: "Nothing more is kept of this event."};
      return;
    }
    entry.again = Date.now() + Math.min(kLongestPauseMs, kFirstPauseMs * 2 ** entry.failures++);
    entry.shown.value = {state: "failed", value: {}, error: (error as Error).message};
  }
}

// The detail of an event, read once it is wanted. A visible part keeps its own copy when the cache evicts it.
export function useDetail(task: string, sequence: number, wanted: boolean): {detail: Detail; retry: () => void} {
  const mine = useRef<{key: string; entry: Entry} | null>(null);
  const key = `${task}/${sequence}`;
  if (mine.current?.key !== key) mine.current = {key, entry: entryOf(task, sequence)};
  const {entry} = mine.current;
  useEffect(() => {
    const {state} = entry.shown.peek();
    if (wanted && (state === "unread" || (state === "failed" && Date.now() >= entry.again))) void read(entry, task, sequence);
  }, [entry, wanted]);
  return {detail: entry.shown.value, retry: () => void read(entry, task, sequence)};
}
