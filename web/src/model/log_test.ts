import {describe, expect, it} from "vitest";
import type {TaskEvent} from "../api/types";
import {kBlock, TaskLog} from "./log";

const event = (sequence: number, more: Partial<TaskEvent> = {}): TaskEvent => ({
  sequence, type: "thinking", summary: `event ${sequence}`, version: 1,
  timestamp: "2026-01-01T00:00:00.000Z", receivedAt: "2026-01-01T00:00:00.000Z", ...more,
});

describe("task log", () => {
  it("holds each number once, in whatever order they come", () => {
    const log = new TaskLog();
    for (const n of [3, 1, 2, 3]) log.add(event(n));
    expect(log.add(event(2))).toBe(false);
    expect([1, 2, 3].map((n) => log.at(n)?.summary)).toEqual(["event 1", "event 2", "event 3"]);
    expect(log.last).toBe(3);
  });

  it("knows what is missing, by block", () => {
    const log = new TaskLog();
    log.last = 3 * kBlock;
    expect(log.missing(1, 10)).toEqual([{after: 0, limit: kBlock}]);
    for (let n = 1; n <= 100; ++n) log.add(event(n));
    expect(log.missing(1, 10)).toEqual([{after: 100, limit: kBlock - 100}]);
    expect(log.missing(kBlock, kBlock + 1).length).toBe(2);
    expect(log.missing(3 * kBlock, 3 * kBlock + 99)).toEqual([{after: 2 * kBlock, limit: kBlock}]);
  });

  it("a live event beyond the known end leaves a hole that is known", () => {
    const log = new TaskLog();
    for (let n = 1; n <= 10; ++n) log.add(event(n));
    log.add(event(15));
    expect(log.missing(1, 15)).toEqual([{after: 10, limit: 5}]);
  });

  it("does not ask for what retention removed", () => {
    const log = new TaskLog();
    log.first = kBlock + 51;
    log.last = kBlock + 60;
    expect(log.missing(1, log.last)).toEqual([{after: kBlock + 50, limit: 10}]);
  });

  it("ties results to calls, whichever comes first", () => {
    const log = new TaskLog();
    log.add(event(8, {type: "tool_result", callID: "c"}));
    expect(log.call("c")).toEqual({call: 0, result: 8});
    log.add(event(7, {type: "tool_call", callID: "c"}));
    expect(log.call("c")).toEqual({call: 7, result: 8});
  });

  it("forgets what was not looked at for longest", () => {
    const log = new TaskLog();
    for (let block = 0; block < 130; ++block) log.add(event(block * kBlock + 1));
    expect(log.has(1)).toBe(false);
    expect(log.has(9 * kBlock + 1)).toBe(false);
    expect(log.has(10 * kBlock + 1)).toBe(true);
    expect(log.has(129 * kBlock + 1)).toBe(true);
  });

  it("keeps what is looked at", () => {
    const log = new TaskLog();
    for (let block = 0; block < 120; ++block) log.add(event(block * kBlock + 1));
    expect(log.has(1)).toBe(true);
    log.add(event(120 * kBlock + 1));
    expect(log.has(1)).toBe(true);
    expect(log.has(kBlock + 1)).toBe(false);
  });

  it("has its blocks where their numbers are", () => {
    const log = new TaskLog();
    log.add(event(kBlock));
    log.add(event(kBlock + 2));
    expect([kBlock - 1, kBlock, kBlock + 1, kBlock + 2].map((n) => log.has(n))).toEqual([false, true, false, true]);
    expect(log.last).toBe(kBlock + 2);
    expect(log.add(event(kBlock - 1))).toBe(true);
    expect(log.last).toBe(kBlock + 2);
    expect(log.missing(1, kBlock)).toEqual([{after: 0, limit: kBlock}]);
    expect(log.missing(kBlock + 1, kBlock + 2)).toEqual([{after: kBlock, limit: 2}]);
  });

  it("ties a call to its first event, and asks nothing of events without one", () => {
    const log = new TaskLog();
    for (const [n, type] of [[1, "tool_call"], [2, "tool_call"], [3, "tool_result"], [4, "tool_result"], [5, "thinking"]] as const) log.add(event(n, {type, callID: "c"}));
    expect(log.call("c")).toEqual({call: 1, result: 3});
    log.add(event(6, {type: "tool_call"}));
    expect(log.call(undefined)).toBeUndefined();
    expect(log.call("")).toBeUndefined();
  });

  it("finds what was asked, answered and settled", () => {
    const log = new TaskLog();
    const approval = (n: number, approvalID: string, state: string, callID?: string) => log.add(event(n, {type: "approval", data: {approvalID, state}, ...(callID ? {callID} : {})}));
    approval(3, "a", "pending", "c");
    approval(4, "b", "open", "c");
    approval(8, "a", "approved", "c");
    approval(9, "", "pending", "d");
    log.add(event(7, {type: "command", data: {approvalID: "a", kind: "approve"}}));
    log.add(event(5, {type: "command", data: {approvalID: "a", kind: "deny"}}));
    log.add(event(6, {type: "thinking", data: {approvalID: "a"}}));
    expect([log.asked("a"), log.asked("b"), log.asked("x")]).toEqual([3, 4, 0]);
    expect([log.settled("a"), log.settled("b")]).toEqual([8, 0]);
    expect([log.approvalsOf("c"), log.approvalsOf("d"), log.approvalsOf(undefined)]).toEqual([["a", "b"], [], []]);
    expect([log.answers("a"), log.answers("b")]).toEqual([[5, 7], []]);
  });

  it("finds the newest command that said something before", () => {
    const log = new TaskLog();
    log.add(event(2, {type: "command", data: {content: "the tests first"}}));
    log.add(event(4, {type: "command", data: {content: "the tests first"}}));
    log.add(event(6, {type: "command", data: {guidance: "not there"}}));
    expect([5, 4, 3, 2].map((before) => log.said("the tests first", before))).toEqual([4, 2, 2, 0]);
    expect(log.said("not there", 9)).toBe(6);
    expect(log.said("", 9)).toBe(0);
  });
});
