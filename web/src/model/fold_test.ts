import {readdirSync, readFileSync} from "node:fs";
import {join} from "node:path";
import {describe, expect, it} from "vitest";
import type {TaskEvent} from "../api/types";
import {fold, newTaskState} from "./fold";

const folder = join(__dirname, "../../../tests/golden/fold");
const names = readdirSync(folder).filter((name) => name.endsWith(".json"));

interface Golden {
  story: string;
  log: {event: TaskEvent; byServer?: boolean}[];
  expect: Record<string, unknown>;
}

// Compares the members that `expect` names, and lists element by element; a missing text is empty, a missing number 0.
function compare(expected: unknown, actual: unknown, name = ""): void {
  if (Array.isArray(expected)) {
    const found = (actual ?? []) as unknown[];
    expect(found.length, name).toBe(expected.length);
    expected.forEach((each, at) => compare(each, found[at], `${name}.${at}`));
  } else if (expected !== null && typeof expected === "object") {
    const found = (actual ?? {}) as Record<string, unknown>;
    for (const [key, value] of Object.entries(expected)) compare(value, found[key], `${name}.${key}`);
  } else if (typeof expected === "number") {
    expect(actual ?? 0, name).toBeCloseTo(expected, 9);
  } else {
    expect(actual ?? (typeof expected === "string" ? "" : false), name).toEqual(expected);
  }
}

describe("fold: the golden logs that the server's fold is held against", () => {
  it("has them all", () => expect(names.length).toBeGreaterThanOrEqual(24));
  for (const name of names) {
    const golden = JSON.parse(readFileSync(join(folder, name), "utf8")) as Golden;
    it(golden.story, () => {
      const state = newTaskState();
      for (const entry of golden.log) fold(state, entry.event, entry.byServer === true);
      compare(golden.expect, state);
    });
  }
});

it("what nobody began goes back to the queue when the server says so, and only then", () => {
  const status = (sequence: number, state: string) => ({sequence, type: "status", summary: "", data: {state}, timestamp: "2026-01-01T00:00:00Z", receivedAt: "2026-01-01T00:00:00Z", version: 1}) as TaskEvent;
  for (const [before, byServer, after] of [["starting", true, "queued"], ["starting", false, "starting"], ["running", true, "running"], ["failed", true, "failed"]] as const) {
    const state = newTaskState();
    fold(state, status(1, before), true);
    fold(state, status(2, "queued"), byServer);
    expect(state.state, before).toBe(after);
  }
});

describe("what the golden logs do not ask", () => {
  const event = (sequence: number, type: string, data: object, more: object = {}) =>
    ({sequence, type, summary: "", data, timestamp: "2026-01-01T00:00:00Z", receivedAt: `2026-01-01T00:00:0${sequence}Z`, version: 1, ...more}) as unknown as TaskEvent;
  const after = (...events: TaskEvent[]) => {
    const state = newTaskState();
    for (const each of events) fold(state, each);
    return state;
  };
  const at = (second: number) => Date.parse(`2026-01-01T00:00:0${second}Z`);

  it("times are those of the first work, the last event and the end", () => {
    const state = after(event(1, "status", {state: "starting"}), event(2, "status", {state: "running"}), event(3, "status", {state: "paused"}),
      event(4, "status", {state: "completed"}), event(5, "log", {}));
    expect([state.startedMS, state.completedMS, state.lastEventMS]).toEqual([at(2), at(4), at(5)]);
    expect([state.firstSequence, state.lastSequence, state.inferredEnd]).toEqual([1, 5, false]);
  });
  it("an agent's abilities are an object, the newest one", () => {
    const said = (capabilities: unknown) => event(2, "status", {capabilities});
    expect(after(said({steer: true})).capabilities).toEqual({steer: true});
    for (const bad of [null, [], "all", 1]) expect(after(said({steer: true}), said(bad)).capabilities).toEqual({steer: true});
  });
  it("figures that are none are left out", () => {
    const usage = (data: object, more: object = {}) => event(1, "usage", data, more);
    const state = after(usage({costUSD: 0.5, inputTokens: 7, turns: 2}), usage({costUSD: -1, inputTokens: -3, turns: 1.5, outputTokens: "9"}));
    expect(state.usage).toMatchObject({costUSD: 0.5, inputTokens: 7, turns: 2, outputTokens: 0});
    expect(after(usage({costUSD: 3, inputTokens: 3}), usage({costUSD: 0, inputTokens: 0})).usage).toMatchObject({costUSD: 0, inputTokens: 0});
    expect(after(usage({turns: 2}), usage({turns: 3}, {sessionID: "s"})).usage.turns).toBe(5);
  });
  it("an error is its own, or the words of the failure", () => {
    expect(after(event(1, "status", {state: "timed_out", message: "too long"})).error).toBe("too long");
    expect(after(event(1, "status", {state: "failed", message: "broke", error: "E1"})).error).toBe("E1");
    expect(after(event(1, "status", {state: "completed", message: "done"})).error).toBe("");
  });
  it("each event is folded as what it is", () => {
    const open = event(1, "approval", {approvalID: "a", state: "pending"});
    const command = event(2, "command", {id: "k", kind: "steer", state: "delivered", approvalID: "a"});
    const state = after(open, command, event(3, "command_result", {id: "k", state: "accepted", approvalID: "a"}), event(4, "result", {id: "r", kind: "stop", prURL: "p"}),
      event(5, "session_start", {model: "m", prURL: "q"}, {sessionID: "s"}), event(6, "status", {state: "running", model: "n"}, {sessionID: "t"}));
    expect(state.approvals.map((each) => each.id)).toEqual(["a"]);
    expect(state.commands.map((each) => [each.id, each.state])).toEqual([["k", "accepted"]]);
    expect([state.prURL, state.sessionID, state.model]).toEqual(["p", "s", "m"]);
  });
  it("some events say what the agent does, and some that it works", () => {
    for (const type of ["tool_call", "thinking", "output", "status"]) expect(after(event(1, type, {}, {summary: type})).activity).toBe(type);
    for (const type of ["log", "message", "command"]) expect(after(event(1, type, {}, {summary: type})).activity).toBe("");
    for (const type of ["command", "command_result", "message", "eviction"]) expect(after(event(1, type, {})).state, type).toBe("queued");
    for (const type of ["log", "thinking", "result"]) expect(after(event(1, type, {})).state, type).toBe("running");
  });
  it("a late event is counted and changes nothing else", () => {
    const state = after(event(1, "tool_call", {}, {late: true, summary: "late"}), event(2, "status", {state: "running"}, {late: true}));
    expect([state.state, state.activity, state.toolCalls, state.lastSequence]).toEqual(["queued", "", 1, 2]);
  });
  it("begins with nothing", () => {
    expect(newTaskState()).toMatchObject({state: "queued", inferredEnd: false, message: "", activity: "", firstSequence: 0, lastSequence: 0, errors: 0, toolCalls: 0, startedMS: 0,
      lastEventMS: 0, completedMS: 0, commands: [], approvals: [], capabilities: null});
    expect(Object.values(newTaskState().usage)).toEqual(Array(8).fill(0));
  });
});
