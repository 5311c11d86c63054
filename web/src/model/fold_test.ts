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

// Compares the members that `expect` names; a missing text is empty, a missing number 0.
function compare(expected: Record<string, unknown>, found: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(expected)) {
    const actual = found[name];
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      compare(value as Record<string, unknown>, (actual ?? {}) as Record<string, unknown>);
    } else if (typeof value === "number") {
      expect(actual ?? 0, name).toBeCloseTo(value, 9);
    } else {
      expect(actual ?? (typeof value === "string" ? "" : false), name).toEqual(value);
    }
  }
}

describe("fold: the golden logs that the server's fold is held against", () => {
  it("has them all", () => expect(names.length).toBeGreaterThanOrEqual(17));
  for (const name of names) {
    const golden = JSON.parse(readFileSync(join(folder, name), "utf8")) as Golden;
    it(golden.story, () => {
      const state = newTaskState();
      for (const entry of golden.log) fold(state, entry.event, entry.byServer === true);
      compare(golden.expect, state as unknown as Record<string, unknown>);
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
