import {describe, expect, it} from "vitest";
import type {JsonObject, TaskEvent} from "../api/types";
import {TaskLog} from "./log";
import {rowOf, toldIn} from "./told";

const never = () => false;

// A log of these events, numbered from 1.
function logOf(...events: JsonObject[]): TaskLog {
  const log = new TaskLog();
  events.forEach((event, index) => log.add({summary: "", version: 1, timestamp: "2026-01-01T00:00:00.000Z", receivedAt: "2026-01-01T00:00:00.000Z", ...event, sequence: index + 1} as unknown as TaskEvent));
  return log;
}
const rows = (log: TaskLog, isOpen = never as (id: string) => boolean) =>
  Array.from({length: log.last}, (_, index) => index + 1).filter((n) => toldIn(log, log.at(n)!, isOpen) === n);

// The events of an approval as the runner and the server write them.
const kApproval: JsonObject[] = [
  {type: "tool_call", tool: "Bash", callID: "c", summary: "Running touch x", input: {command: "touch x"}},
  {type: "approval", callID: "c", summary: "Needs approval: Running touch x", data: {approvalID: "a", state: "pending", kind: "permission"}},
  {type: "status", summary: "Needs approval: Running touch x", data: {state: "waiting_for_input"}},
  {type: "command", summary: "approve", data: {id: "k", kind: "approve", by: "anna", approvalID: "a"}},
  {type: "command_result", data: {id: "k", state: "delivered"}},
  {type: "approval", callID: "c", summary: "Approved: Running touch x", data: {approvalID: "a", state: "approved", kind: "permission"}},
  {type: "status", summary: "Approved: Running touch x", data: {state: "running"}},
  {type: "tool_result", callID: "c", summary: "ok", output: {success: true, summary: ""}},
  {type: "command_result", data: {id: "k", state: "acknowledged"}},
];

describe("the rows of a story", () => {
  it("an approval that is over is told in its call's card, and each of its moments leads there", () => {
    const log = logOf({type: "thinking"}, ...kApproval, {type: "thinking"});
    expect(rows(log)).toEqual([1, 2, 11]);
    expect(Array.from({length: 8}, (_, index) => rowOf(log, index + 2, never))).toEqual(Array(8).fill(2));
  });

  it("an open one has a row of its own, which tells that the task waits", () => {
    const log = logOf(...kApproval.slice(0, 3));
    expect(rows(log, (id) => id === "a")).toEqual([1, 2]);
    expect(rowOf(log, 3, (id) => id === "a")).toBe(2);
  });

  it("an answer between an approval and its state does not part them", () => {
    const [call, asked, waits, approve] = kApproval;
    expect(rows(logOf(call!, asked!, approve!, waits!))).toEqual([1]);
    expect(rows(logOf(call!, asked!, approve!, {type: "command_result", data: {id: "k", state: "delivered"}}, waits!))).toEqual([1]);
    expect(rows(logOf(call!, asked!, {type: "thinking"}, waits!))).toEqual([1, 3, 4]);
  });

  it("a state belongs to an approval only a few events before it", () => {
    const [call, asked, waits] = kApproval;
    const answers = (count: number) => Array.from({length: count}, (_, n) => ({type: "command_result", data: {id: `k${n}`, state: "delivered"}}));
    expect(rows(logOf(call!, asked!, ...answers(7), waits!))).toEqual([1]);
    expect(rows(logOf(call!, asked!, ...answers(8), waits!))).toEqual([1, 11]);
  });

  it("a result without its call has a row, and what leads nowhere leads to itself", () => {
    const log = logOf({type: "command_result", data: {id: "k"}}, {type: "command_result", data: {id: "k"}}, {type: "tool_result", callID: "x"});
    expect(rows(log)).toEqual([3]);
    expect([1, 2, 3, 9].map((n) => rowOf(log, n, never))).toEqual([1, 2, 3, 9]);
    expect(rows(logOf({type: "command", data: {content: "x"}}, {type: "message", data: {role: "assistant", content: "x"}}))).toEqual([1, 2]);
  });

  it("an approval without a call keeps its row", () => {
    const log = logOf(...kApproval.slice(1, 7).map((event) => ({...event, callID: undefined})));
    expect(rows(log)).toEqual([1]);
  });

  it("a state with words of its own keeps its row", () => {
    const [call, asked] = kApproval;
    const log = logOf(call!, asked!, {type: "status", summary: "Waits for the next prompt", data: {state: "waiting_for_input"}}, {type: "status", summary: "", data: {state: "running"}});
    expect(rows(log)).toEqual([1, 3, 4]);
  });

  it("what was used so far is no row, what a turn used is one", () => {
    const log = logOf({type: "thinking"}, {type: "usage", data: {partial: true, outputTokens: 5}}, {type: "usage", data: {outputTokens: 9}});
    expect(rows(log)).toEqual([1, 3]);
    expect(rowOf(log, 2, never)).toBe(1);
  });

  it("an agent's echo of an operator's word is told in the command, other words are not", () => {
    const steer = {type: "command", data: {id: "k", kind: "steer", by: "anna", content: "the tests first"}};
    const log = logOf({type: "message", data: {role: "user", content: "the tests first"}}, steer, {type: "command_result", data: {id: "k", state: "delivered"}},
      {type: "message", data: {role: "user", content: "the tests first"}}, {type: "message", data: {role: "user", content: "something else"}});
    expect(rows(log)).toEqual([1, 2, 5]);
    expect(rowOf(log, 4, never)).toBe(2);
  });
});
