import {describe, expect, it} from "vitest";
import type {Task} from "../api/types";
import {fleetRows} from "./fleet_rows";

type Some = Omit<Partial<Task>, "status"> & {status?: Partial<Task["status"]>};
const task = (id: string, more: Some = {}): Task =>
  ({id, createdAt: "2026-01-01T00:00:00Z", lastSequence: 1, status: {state: "running"}, ...more}) as Task;
const none = {state: "", agent: "", text: "", group: ""};
const ids = (rows: ReturnType<typeof fleetRows>) => rows.map((row) => (row.kind === "task" ? row.task.id : `# ${row.name} ${row.count}`));

describe("fleet rows", () => {
  const tasks = [
    task("a", {agent: "claude", title: "Fix login"}),
    task("b", {agent: "codex", status: {state: "failed"}, workflowID: "nightly"}),
    task("c", {labels: {team: "web"}, status: {state: "completed"}}),
  ];
  it("filter by state, kind of state and agent", () => {
    expect(ids(fleetRows(tasks, {...none, state: "failed"}))).toEqual(["b"]);
    expect(ids(fleetRows(tasks, {...none, state: "active"}))).toEqual(["a"]);
    expect(ids(fleetRows(tasks, {...none, state: "ended"}))).toEqual(["b", "c"]);
    expect(ids(fleetRows(tasks, {...none, agent: "external"}))).toEqual(["c"]);
  });
  it("filter by words, all of which must be there", () => {
    expect(ids(fleetRows(tasks, {...none, text: "LOGIN fix"}))).toEqual(["a"]);
    expect(ids(fleetRows(tasks, {...none, text: "team=web"}))).toEqual(["c"]);
    expect(ids(fleetRows(tasks, {...none, text: "login codex"}))).toEqual([]);
  });
  it("group", () => {
    expect(ids(fleetRows(tasks, {...none, group: "workflow"}))).toEqual(["# nightly 1", "b", "# no workflow 2", "a", "c"]);
  });
});
