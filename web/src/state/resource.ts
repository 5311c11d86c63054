// What a view reads from the server. The newest read wins; older ones are aborted and their answers ignored. A failed
// read keeps what there was, with the error beside it. Polls become rarer while reads fail, end when the session has
// ended, and wait while the tab is hidden.
import {signal, type Signal} from "@preact/signals";
import {useEffect, useMemo} from "preact/hooks";
import {pauseAfter} from "../api/backoff";
import {ApiError} from "../api/client";

export interface Read<T> {
  value: T | undefined;
  error: string;
  missing: boolean;  // the server does not have this
  busy: boolean;
}
export type Fetch<T> = (signal: AbortSignal, old: T | undefined) => Promise<T>;

export interface Clock {
  after(ms: number, act: () => void): () => void;
  isHidden(): boolean;
  onOnline(act: () => void): () => void;
}

const kBrowser: Clock = {
  after: (ms, act) => {
    const timer = setTimeout(act, ms);
    return () => clearTimeout(timer);
  },
  isHidden: () => document.hidden,
  onOnline: (act) => {
    addEventListener("online", act);
    return () => removeEventListener("online", act);
  },
};

export interface Ways {
  everyMs?: number;  // poll
  pauseMs?: number;  // before the first read, so that what changes quickly is read once
  keeps?: boolean;   // shows what was read before until the new value is there
}

const kLeastMs = 1000;

export class Resource<T> {
  readonly state: Signal<Read<T>> = signal<Read<T>>({value: undefined, error: "", missing: false, busy: false});
  #fetch: Fetch<T> | null = null;
  #everyMs = 0;
  #failures = 0;
  #current: AbortController | null = null;
  #cancel = () => {};
  #deaf = () => {};

  constructor(private readonly clock: Clock = kBrowser) {}

  start(fetch: Fetch<T>, {everyMs = 0, pauseMs = 0, keeps = false}: Ways = {}): void {
    this.close();
    [this.#fetch, this.#everyMs, this.#failures] = [fetch, everyMs, 0];
    this.state.value = {value: keeps ? this.state.peek().value : undefined, error: "", missing: false, busy: true};
    this.#deaf = this.clock.onOnline(() => { if (this.#failures > 0) this.retry(); });
    if (pauseMs > 0) this.#cancel = this.clock.after(pauseMs, () => this.retry());
    else this.retry();
  }

  // Reads now, whatever the pause.
  retry(): void {
    if (this.#fetch) void this.#read(this.#fetch);
  }

  // Continues from what is there (the next page). Ignored while something is read, so that no page comes twice.
  extend(fetch: Fetch<T>): void {
    if (this.#fetch && !this.state.peek().busy) void this.#read(fetch);
  }

  // Forgets everything.
  clear(): void {
    this.close();
    this.state.value = {value: undefined, error: "", missing: false, busy: false};
  }

  close(): void {
    this.#cancel();
    this.#deaf();
    this.#current?.abort();
    this.#current = this.#fetch = null;
    this.#cancel = this.#deaf = () => {};
  }

  async #read(fetch: Fetch<T>): Promise<void> {
    this.#cancel();
    this.#current?.abort();
    const mine = new AbortController();
    this.#current = mine;
    const old = this.state.peek();
    if (!old.busy) this.state.value = {...old, busy: true};
    let pause = this.#everyMs;
    try {
      const value = await fetch(mine.signal, old.value);
      if (mine !== this.#current) return;
      this.#failures = 0;
      this.state.value = {value, error: "", missing: false, busy: false};
    } catch (error) {
      if (mine !== this.#current) return;
      const known = error instanceof ApiError ? error : null;
      ++this.#failures;
      this.state.value = {...this.state.peek(), error: (error as Error).message, missing: known?.isMissing ?? false, busy: false};
      if (known?.status === 401) return;
      pause = pauseAfter(this.#failures + 1, known?.retryAfterMs, this.#everyMs);
    }
    if (this.#everyMs > 0) this.#pollIn(pause);
  }

  #pollIn(ms: number): void {
    this.#cancel = this.clock.after(Math.max(kLeastMs, ms), () => {
      if (this.clock.isHidden()) this.#pollIn(this.#everyMs);
      else this.retry();
    });
  }
}

// The resource of a view. Another key is another thing to read; null reads nothing.
export function useResource<T>(key: string | null, fetch: Fetch<T>, ways: Ways = {}): Resource<T> {
  const resource = useMemo(() => new Resource<T>(), []);
  useEffect(() => {
    if (key === null) resource.clear();
    else resource.start(fetch, ways);
    return () => resource.close();
  }, [resource, key]);
  return resource;
}
