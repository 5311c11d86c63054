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
    expect(log.has(129 * kBlock + 1)).toBe(true);
  });
});
