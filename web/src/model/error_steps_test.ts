import {describe, expect, test} from "vitest";
import type {TaskEvent} from "../api/types";
import {stepAfter, stepBefore, type Steps} from "./error_steps";
import {TaskLog} from "./log";
import {ToolUse} from "./tool_use";

const kLast = 2000;
const kErrors = [900];
const kFailed = [40, 1200, 1990];  // results; each call is the event before
const event = (sequence: number): TaskEvent => {
  const isResult = kFailed.includes(sequence);
  const type = kErrors.includes(sequence) ? "error" : isResult ? "tool_result" : kFailed.includes(sequence + 1) ? "tool_call" : "thinking";
  const callID = isResult ? `c${sequence}` : type === "tool_call" ? `c${sequence + 1}` : undefined;
  return {sequence, type, callID, tool: "Bash", summary: "", data: {}, ...(isResult ? {output: {success: false}} : {})} as unknown as TaskEvent;
};

// The page holds the events of [from, to], and the calls since `calls`.
function held(from: number, to: number, calls: number): Steps & {reads: string[]} {
  const log = new TaskLog();
  log.last = kLast;
  for (let n = from; n <= to; ++n) log.add(event(n));
  const use = new ToolUse();
  const readCalls = (first: number) => {
    for (let n = first; n <= kLast; ++n) use.add(event(n));
    use.from = first;
  };
  readCalls(calls);
  const reads: string[] = [];
  return {
    log, use, reads,
    readAllCalls: async () => { reads.push("calls"); readCalls(1); },
    errorAfter: async (n) => { reads.push("errors"); return kErrors.find((each) => each > n); },
    errorBefore: async (n) => { reads.push("errors"); return kErrors.filter((each) => each < n).pop(); },
  };
}

describe("the next failed step", () => {
  test("from every place, whatever is held", async () => {
    for (const [from, to] of [[1, kLast], [1900, kLast], [1, 50], [600, 700]] as const) {
      for (const calls of [1, 1000]) {
        const found: (number | undefined)[] = [];
        for (let at: number | undefined = 0; at !== undefined;) found.push(at = await stepAfter(held(from, to, calls), at));
        expect(found, `${from}-${to}, calls since ${calls}`).toEqual([40, 900, 1200, 1990, undefined]);
      }
    }
  });
  test("asks nothing when it is held", async () => {
    const steps = held(1, kLast, 1);
    await stepAfter(steps, 40);
    await stepAfter(steps, 1990);
    expect(steps.reads).toEqual([]);
  });
});

describe("the failed step before", () => {
  test("from every place, whatever is held", async () => {
    for (const [from, to] of [[1, kLast], [1900, kLast], [1, 50], [600, 700]] as const) {
      for (const calls of [1, 1000]) {
        const found: (number | undefined)[] = [];
        for (let at: number | undefined = kLast + 1; at !== undefined;) found.push(at = await stepBefore(held(from, to, calls), at));
        expect(found, `${from}-${to}, calls since ${calls}`).toEqual([1990, 1200, 900, 40, undefined]);
      }
    }
  });
  test("reads no older calls than it needs", async () => {
    const steps = held(1900, kLast, 1000);
    expect(await stepBefore(steps, 1900)).toBe(1200);
    expect(steps.reads).toEqual(["errors"]);
  });
});
