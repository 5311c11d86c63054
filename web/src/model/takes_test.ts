import {expect, test} from "vitest";
import type {CommandKind, State, Task} from "../api/types";
import {takes} from "./takes";

const kinds: CommandKind[] = ["steer", "queue", "interrupt", "stop", "resume", "set_mode", "approve", "deny", "answer"];
const taken = (state: State, capabilities: unknown = null) => kinds.filter((kind) => takes({status: {state}, capabilities} as unknown as Task, kind));

test("a task that no agent has taken up can only be stopped", () => expect(taken("queued")).toEqual(["stop"]));
test("an agent that lists what it takes gets nothing else", () => {
  expect(taken("running", {commands: ["queue", "deny"]})).toEqual(["queue", "deny"]);
  expect(taken("running", {commands: []})).toEqual([]);
  expect(taken("queued", {commands: ["queue"]})).toEqual(["queue"]);
});
test("an agent that lists nothing may be sent any command", () => {
  expect(taken("running")).toEqual(kinds);
  expect(taken("running", {commands: "all"})).toEqual(kinds);
});
test("of a task whose row is not loaded, the server knows", () => expect(takes(undefined, "approve")).toBe(true));
