// Answers of the routes that the dashboard was built for. Taken from the OpenAPI description once it has them.
import type {JsonObject} from "./types";

export interface InboxItem {
  taskID: string;
  title: string;
  agent?: string;
  model?: string;
  kind: "approval" | "question" | "waiting" | "stalled" | "failed";
  since: string;
  summary: string;
  sequence: number;
  approval?: {approvalID: string; kind?: string; tool?: string; summary?: string; input?: JsonObject; expiresAt?: string | null};
}
export interface Inbox {items: InboxItem[]; total: number}

export interface StatsTokens {input: number; output: number; cacheRead: number; cacheWrite: number}
export interface StatsPoint {
  at: string;
  costUSD: number;
  tokens: StatsTokens;
  running: number;
  events: number;
  errors: number;
  toolCalls: number;
}
export interface Stats {
  head?: number;
  from: string;
  to: string;
  stepSeconds: number;
  by: string;
  series: {key: string; points: StatsPoint[]}[];
  tools: {tool: string; calls: number; failures: number; p50MS: number; p95MS: number}[];
  totals: Omit<StatsPoint, "at"> & {tasks: number; failed: number};
  now: {running: number; waiting: number; queued: number; needsYou: number};
  indexedThrough?: number;
}

export interface Timeline {
  from: string | null;
  to: string | null;
  firstSequence: number;
  lastSequence: number;
  buckets: {at: string; first: number; events: number; errors: number}[];
  marks: {sequence: number; at: string; kind: "error" | "approval" | "command" | "result"}[];
}

export interface Finding {
  taskID: string;
  title: string;
  sequence: number;
  at: string;
  severity: string;
  confidence?: number | string;
  category?: string;
  summary: string;
  data?: JsonObject;
}
export interface Findings {items: Finding[]; next?: string | null}
