import {expect, test} from "vitest";
import type {State, Task} from "../api/types";
import {countersOf} from "./counters";
import {fleetRows} from "./fleet_rows";

const now = new Date(2026, 2, 1, 15).getTime();
const at = (hours: number) => new Date(now + hours * 3_600_000).toISOString();
const task = (id: string, state: State, completionTime: string | null = null) =>
  ({id, title: id, createdAt: at(-50), completionTime, status: {state}}) as unknown as Task;
const tasks = [
  task("a", "running"), task("b", "starting"), task("c", "waiting_for_input"), task("d", "queued"), task("e", "queued"),
  task("f", "failed", at(-2)), task("g", "failed", at(-20)), task("h", "timed_out", at(-1)), task("i", "completed", at(-1)), task("j", "failed"),
];

test("the counters of a day", () => {
  expect(countersOf(tasks, now).map(({name, value}) => `${value} ${name}`)).toEqual(["1 running", "1 waiting", "2 queued", "1 failed today"]);
});

test("each counter is the number of rows that its link shows", () => {
  for (const {to, value} of countersOf(tasks, now)) {
    expect(fleetRows(tasks, {agent: "", text: "", group: "", ended: "", ...to}, now)).toHaveLength(value);
  }
});

test("today ends at midnight", () => {
  const midnight = new Date(2026, 2, 1).getTime();
  const failed = (time: number) => countersOf([task("x", "failed", new Date(time).toISOString())], now)[3]!.value;
  expect([failed(midnight - 1), failed(midnight)]).toEqual([0, 1]);
});
