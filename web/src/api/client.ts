// Calls of the API. A failure is an ApiError whose message tells a person what to do; status 0 means that no answer
// came. Nothing is repeated here: who polls waits as long as the error says, and other reads are for a person to repeat.
import {retryAfter} from "./backoff";
import {eventOf} from "../model/shape";
import type {Command, CommandAnswer, EventPage, JsonObject, SearchResults, Task, TaskEvent, TaskRequest, WhoAmI} from "./types";

export class ApiError extends Error {
  // `retryAfterMs`: the pause that the server asks for before the next request.
  constructor(readonly status: number, readonly code: string, message: string, readonly retryAfterMs?: number) {
    super(message);
  }
  // The server is older than this page or was built without this part.
  get isMissing(): boolean {
    return this.status === 404 && this.code !== "unknown_task" && this.code !== "unknown_event";
  }
}

export type Query = Record<string, string | number | boolean | undefined>;

export function queryText(query: Query): string {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "" && value !== false) parts.set(name, String(value));
  }
  const text = parts.toString();
  return text ? "?" + text : "";
}

interface Answer<T> {
  value: T;
  bytes: number;
  next: string;  // `before` of the next page, from the Link header; "" on the last page
}

const ask = <T>(method: string, path: string, body?: unknown, signal?: AbortSignal, key = ""): Promise<Answer<T>> => askAt("/api/v1" + path, method, body, signal, key);

// For the few addresses that are not below /api/v1.
export async function askAt<T>(address: string, method: string, body?: unknown, signal?: AbortSignal, key = ""): Promise<Answer<T>> {
  let answer: Response;
  try {
    answer = await fetch(address, {
      method,
      signal: signal ?? null,
      headers: {...(body === undefined ? {} : {"Content-Type": "application/json"}), ...(key ? {"Idempotency-Key": key} : {})},
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, "unreachable", "The server does not answer.");
  }
  if (answer.status === 204) return {value: undefined as T, bytes: 0, next: ""};
  const text = await answer.text();
  if (answer.status === 401) session.ended();
  if (!answer.ok) throw problemOf(answer.status, text, retryAfter(answer.headers.get("Retry-After"), Date.now()));
  const link = /<([^>]*)>; *rel="next"/.exec(answer.headers.get("Link") ?? "")?.[1] ?? "";
  return {value: JSON.parse(text) as T, bytes: text.length, next: new URLSearchParams(link.split("?")[1] ?? "").get("before") ?? ""};
}

async function call<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  return (await ask<T>(method, path, body, signal)).value;
}

function problemOf(status: number, text: string, pause: number | undefined): ApiError {
  try {
    const problem = JSON.parse(text) as {code?: string; detail?: string; error?: string};
    return new ApiError(status, problem.code ?? "", problem.detail ?? problem.error ?? `The server answered ${status}.`, pause);
  } catch {
    return new ApiError(status, "", `The server answered ${status}.`, pause);
  }
}

// Called when the server no longer accepts the session.
export const session = {ended: () => {}};

const taskPath = (id: string) => `/tasks/${encodeURIComponent(id)}`;

export const api = {
  whoami: () => call<WhoAmI>("GET", "/whoami"),
  logout: () => call<void>("POST", "/logout"),
  tasks: (query: Query, signal?: AbortSignal) => ask<Task[]>("GET", "/tasks" + queryText(query), undefined, signal),
  task: (id: string, at?: number, signal?: AbortSignal) => call<Task>("GET", taskPath(id) + queryText({at}), undefined, signal),
  rename: (id: string, title: string) => call<Task>("PATCH", taskPath(id), {title}),
  createTask: async (request: TaskRequest, key: string) => (await ask<Task>("POST", "/tasks", request, undefined, key)).value,
  events: async (id: string, query: Query, signal?: AbortSignal): Promise<EventPage> => {
    const page = await call<EventPage>("GET", `${taskPath(id)}/events${queryText(query)}`, undefined, signal);
    return {...page, events: page.events.map(eventOf)};
  },
  event: async (id: string, sequence: number, signal?: AbortSignal): Promise<TaskEvent> => eventOf(await call("GET", `${taskPath(id)}/events/${sequence}`, undefined, signal)),
  detail: (id: string, sequence: number) => ask<JsonObject>("GET", `${taskPath(id)}/events/${sequence}/detail`),
  command: (id: string, command: Command) => call<CommandAnswer>("POST", `${taskPath(id)}/commands`, command),
  search: (q: string, limit: number, before = "", signal?: AbortSignal) => ask<SearchResults>("GET", "/search" + queryText({q, limit, before}), undefined, signal),
  get: <T>(path: string, query: Query = {}, signal?: AbortSignal) => call<T>("GET", path + queryText(query), undefined, signal),
  post: <T>(path: string, body: unknown) => call<T>("POST", path, body),
};
