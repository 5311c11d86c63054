// Full contents and raw records, read on demand and remembered for as long as the task is looked at.
import {signal, type Signal} from "@preact/signals";
import {api, ApiError} from "../api/client";
import type {JsonObject} from "../api/types";

export interface Detail {
  state: "reading" | "there" | "none";
  value: JsonObject;
  error: string;
}

const kMost = 400;
const known = new Map<string, Signal<Detail>>();

export function detailOf(task: string, sequence: number): Signal<Detail> {
  const key = `${task}/${sequence}`;
  let found = known.get(key);
  if (!found) {
    found = signal<Detail>({state: "reading", value: {}, error: ""});
    known.set(key, found);
    if (known.size > kMost) known.delete(known.keys().next().value as string);
    const made = found;
    api.detail(task, sequence).then(
      (value) => { made.value = {state: "there", value, error: ""}; },
      (error: unknown) => {
        const none = error instanceof ApiError && (error.status === 404 || error.status === 410);
        if (!none) known.delete(key);  // worth another try
        made.value = {state: "none", value: {}, error: none ? "Nothing more is kept of this event." : (error as Error).message};
      });
  }
  return found;
}
