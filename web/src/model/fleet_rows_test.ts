import {describe, expect, it} from "vitest";
import type {Task} from "../api/types";
import {fleetRows, titleOf, tokensOf} from "./fleet_rows";

type Some = Omit<Partial<Task>, "status"> & {status?: Partial<Task["status"]>};
const task = (id: string, more: Some = {}): Task =>
  ({id, createdAt: "2026-01-01T00:00:00Z", lastSequence: 1, status: {state: "running"}, ...more}) as Task;
const none = {state: "", agent: "", text: "", group: "", ended: ""};
const ids = (rows: ReturnType<typeof fleetRows>) => rows.map((row) => (row.kind === "task" ? row.task.id : `# ${row.name} ${row.count}`));

describe("fleet rows", () => {
  const tasks = [
    task("a", {agent: "claude", title: "Fix login"}),
    task("b", {agent: "codex", status: {state: "failed"}, workflowID: "nightly"}),
    task("c", {labels: {team: "web"}, status: {state: "completed"}}),
  ];
  it("filter by state, kind of state and agent", () => {
    expect(ids(fleetRows(tasks, {...none, state: "failed"}, 0))).toEqual(["b"]);
    expect(ids(fleetRows(tasks, {...none, state: "active"}, 0))).toEqual(["a"]);
    expect(ids(fleetRows(tasks, {...none, state: "ended"}, 0))).toEqual(["b", "c"]);
    expect(ids(fleetRows(tasks, {...none, agent: "external"}, 0))).toEqual(["c"]);
  });
  it("filter by words, all of which must be there", () => {
    expect(ids(fleetRows(tasks, {...none, text: "LOGIN fix"}, 0))).toEqual(["a"]);
    expect(ids(fleetRows(tasks, {...none, text: "team=web"}, 0))).toEqual(["c"]);
    expect(ids(fleetRows(tasks, {...none, text: "login codex"}, 0))).toEqual([]);
  });
  it("group", () => {
    expect(ids(fleetRows(tasks, {...none, group: "workflow"}, 0))).toEqual(["# nightly 1", "b", "# no workflow 2", "a", "c"]);
  });
  it("group by agent and by state, in the order of their names", () => {
    const more = [task("d", {status: {state: "waiting_for_input"}, agent: "claude"}), ...tasks, task("e", {status: {}})];
    expect(ids(fleetRows(more, {...none, group: "agent"}, 0))).toEqual(["# claude 2", "d", "a", "# codex 1", "b", "# external 2", "c", "e"]);
    expect(ids(fleetRows(more, {...none, group: "state"}, 0))).toEqual(
      ["# completed 1", "c", "# failed 1", "b", "# queued 1", "e", "# running 1", "a", "# waiting for input 1", "d"]);
  });
  it("know every state that is an end", () => {
    const all = (["queued", "starting", "running", "waiting_for_input", "paused", "interrupted", "completed", "failed", "timed_out", "cancelled"] as const).map((state) => task(state, {status: {state}}));
    expect(ids(fleetRows(all, {...none, state: "ended"}, 0))).toEqual(["completed", "failed", "timed_out", "cancelled"]);
    expect(ids(fleetRows(all, {...none, state: "active"}, 0))).toHaveLength(6);
    expect(ids(fleetRows(all, {...none, state: "queued"}, 0))).toEqual(["queued"]);
    expect(ids(fleetRows([task("none", {status: {}})], {...none, state: "queued"}, 0))).toEqual(["none"]);
  });
  it("find words in all that a row shows", () => {
    const one = task("id-7", {agent: "codex", model: "opus", activity: "Reads x", labels: {team: "web", tier: "2"}, workflowID: "nightly", title: "Mend it"} as Some);
    for (const text of ["id-7", "codex", "opus", "reads", "team=web tier=2", "nightly", "mend  it"]) expect(ids(fleetRows([one], {...none, text}, 0)), text).toEqual(["id-7"]);
    expect(ids(fleetRows([one], {...none, text: "soon"}, 0))).toEqual([]);
    expect([titleOf(one), titleOf(task("x"))]).toEqual(["Mend it", "x"]);
  });
  it("count tokens of every class", () => {
    expect(tokensOf(task("a", {usage: {inputTokens: 1, outputTokens: 20, cacheReadTokens: 300, cacheWriteTokens: 4000}} as Some))).toBe(4321);
    expect(tokensOf(task("a"))).toBe(0);
  });
});
