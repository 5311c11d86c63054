// Converts the JSON of agents to typed values. Every result has its declared type whatever the input, so no view casts.
import type {JsonObject, TaskEvent} from "../api/types";

export function objectOf(value: unknown): JsonObject | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as JsonObject) : undefined;
}
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const objectsOf = (value: unknown): JsonObject[] => listOf(value).map(objectOf).filter((each) => each !== undefined);
export const textsOf = (value: unknown): string[] => listOf(value).filter((each) => typeof each === "string");
export const numberOf = (value: unknown): number | undefined => (typeof value === "number" && Number.isFinite(value) ? value : undefined);

export function textOf(from: unknown, name: string): string {
  const value = objectOf(from)?.[name];
  return typeof value === "string" ? value : "";
}
export const countOf = (from: unknown, name: string): number => Math.max(0, Math.round(numberOf(objectOf(from)?.[name]) ?? 0));

// An event as the server sends it. Malformed members are left out.
export function eventOf(value: unknown): TaskEvent {
  const from = objectOf(value) ?? {};
  const event: JsonObject = {...from};
  const keep = (name: string, good: unknown) => {
    if (good === undefined) delete event[name];
    else event[name] = good;
  };
  for (const name of ["tool", "callID", "parentCallID", "sessionID", "producer"]) keep(name, textOf(from, name) || undefined);
  for (const name of ["input", "data", "output", "metadata", "cut"]) keep(name, objectOf(from[name]));
  for (const name of ["type", "summary", "timestamp", "receivedAt"]) keep(name, textOf(from, name));
  keep("sequence", numberOf(from["sequence"]) ?? 0);
  keep("durationMS", numberOf(from["durationMS"]));
  return event as unknown as TaskEvent;
}

// The outcome of a call. A denial by a person or a rule is not a failure of the tool.
export interface Output {
  failed: boolean;
  denied: boolean;
  summary: string;
}
export function outputOf(result: TaskEvent | undefined): Output {
  const output = objectOf(result?.output);
  const denied = output?.["denied"] === true;
  return {failed: output?.["success"] === false && !denied, denied, summary: textOf(output, "summary")};
}

// Older events do not say that they were cut. Their texts end in a mark or have the maximum length of a text or member.
const kTextBytes = 16 * 1024;
const kMemberCharacters = 500;
function looksCut(event: TaskEvent, what: string, shown: string): boolean {
  if (what === "input") return Object.values(objectOf(event.input) ?? {}).some((value) => typeof value === "string" && value.length >= kMemberCharacters && [...value].length === kMemberCharacters);
  if (shown.endsWith("... (truncated)") || shown.endsWith("…")) return true;
  if (what !== "text" || shown.length < kTextBytes / 4 || shown.length > kTextBytes) return false;
  const bytes = new TextEncoder().encode(shown).length;
  return bytes > kTextBytes - 4 && bytes <= kTextBytes;
}

// Whether the event lacks a part of this.
export function isCut(event: TaskEvent, what: "text" | "output" | "input" | "summary" | "data", shown = ""): boolean {
  const cut = objectOf((event as JsonObject)["cut"]);
  return cut ? what in cut : looksCut(event, what, shown);
}
export const cutFrom = (event: TaskEvent, what: string): number | undefined => numberOf(objectOf((event as JsonObject)["cut"])?.[what]);

// The whole of a cut text, from the event's detail. A result is an object that contains its text, or whatever the agent
// sent.
export function wholeOf(detail: JsonObject, what: "text" | "output" | "summary"): string {
  const value = detail[what];
  if (typeof value === "string") return value;
  if (value === undefined) return "";
  const summary = textOf(value, "summary");
  return summary || JSON.stringify(value, null, 2);
}

export interface AskedOption {
  id: string;
  name: string;
  kind: string;
}
export interface Asked {
  approvalID: string;
  kind: string;
  tool: string;
  input: JsonObject;
  inputIsCut: boolean;  // the event's detail has the whole input
  expiresAt: string;
  remember: string[];
  options: AskedOption[];  // what the agent offers as answers
  redacted: string[];      // members of the input that are shown with marks
  sequence: number;
}
export function askedOf(event: TaskEvent): Asked {
  const data = objectOf(event.data);
  return {
    approvalID: textOf(data, "approvalID"), kind: textOf(data, "kind"), tool: event.tool ?? textOf(data, "tool"), input: objectOf(data?.["input"]) ?? {},
    inputIsCut: data?.["inputCut"] === true || isCut(event, "input") || isCut(event, "data"),
    expiresAt: textOf(data, "expiresAt"), remember: textsOf(data?.["remember"]),
    options: objectsOf(data?.["options"]).map((each) => ({id: textOf(each, "id"), name: textOf(each, "name"), kind: textOf(each, "kind")})).filter((each) => each.id !== "" && each.name !== ""),
    redacted: textsOf(data?.["redacted"]), sequence: event.sequence,
  };
}

export interface AskedQuestion {
  question: string;
  many: boolean;
  options: {label: string; description: string}[];
}
export function questionsOf(input: unknown): AskedQuestion[] {
  return objectsOf(objectOf(input)?.["questions"]).map((each) => ({
    question: textOf(each, "question"), many: each["multiSelect"] === true,
    options: objectsOf(each["options"]).map((option) => ({label: textOf(option, "label"), description: textOf(option, "description")})),
  })).filter((each) => each.question !== "");
}

export interface EndedProcess {
  pid: string;
  how: string;
  name: string;
}
export const processesOf = (value: unknown): EndedProcess[] =>
  objectsOf(value).map((each) => ({pid: String(numberOf(each["pid"]) ?? "?"), how: textOf(each, "how"), name: textOf(each, "name")}));

// The texts of an edit, or of several edits at once.
export interface Edit {
  before: string;
  after: string;
  isFile: boolean;  // a whole file, not a piece of one
}
export function editsOf(input: unknown): Edit[] {
  const from = objectOf(input);
  const each = Array.isArray(from?.["edits"]) ? objectsOf(from["edits"]) : from ? [from] : [];
  return each.filter((edit) => typeof edit["new_string"] === "string" || typeof edit["content"] === "string")
    .map((edit) => ({before: textOf(edit, "old_string"), after: textOf(edit, "new_string") || textOf(edit, "content"), isFile: typeof edit["content"] === "string"}));
}

// Marks where a part of an input was redacted. An agent can write such a mark itself; it only says "look".
export const redactionsIn = (input: unknown): string[] =>
  [...new Set(JSON.stringify(input ?? {}).match(/\[redacted(?::[a-z_]{1,16}(?::[0-9]{1,10})?)?\]/g) ?? [])];
