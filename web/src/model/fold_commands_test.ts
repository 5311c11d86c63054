import {describe, expect, it} from "vitest";
import type {JsonObject, TaskEvent} from "../api/types";
import {fold, newTaskState, type TaskState} from "./fold";
import {kCommandKinds} from "./fold_commands";

type Step = [type: string, data: JsonObject, more?: Partial<TaskEvent>];

// The state after these events, numbered from 1.
function after(...steps: Step[]): TaskState {
  const state = newTaskState();
  steps.forEach(([type, data, more], index) => fold(state, {
    sequence: index + 1, type, summary: "", data, timestamp: "2026-01-01T00:00:00Z", receivedAt: "2026-01-01T00:00:00Z", version: 1, ...more,
  } as TaskEvent));
  return state;
}
const command = (id: string, more: JsonObject = {}): Step => ["command", {id, kind: "steer", by: "anna", ...more}];
const result = (id: string, state: string, reason?: string): Step => ["command_result", {id, state, ...(reason ? {reason} : {})}];
const approval = (approvalID: string, state: string, data: JsonObject = {}, more: Partial<TaskEvent> = {}): Step => ["approval", {approvalID, state, ...data}, more];
const states = (state: TaskState) => state.commands.map((each) => `${each.id} ${each.state}`);

describe("commands in the fold", () => {
  it("begin as accepted, with who gave them and what they answer", () => {
    expect(after(["thinking", {}], command("k", {kind: "approve", approvalID: "a"})).commands).toEqual(
      [{id: "k", kind: "approve", state: "accepted", by: "anna", reason: "", approvalID: "a", sequence: 2}]);
  });
  it("of every kind are known, and no others", () => {
    for (const kind of kCommandKinds) expect(after(command("k", {kind})).commands[0]?.kind).toBe(kind);
    expect(kCommandKinds).toHaveLength(9);
    expect(after(command("k", {kind: "dance"})).commands).toEqual([]);
  });
  it("have an id, and count once", () => {
    expect(after(command("")).commands).toEqual([]);
    expect(after(command("k"), command("k", {by: "bert"})).commands.map((each) => each.by)).toEqual(["anna"]);
  });
  it("go on to what became of them, and never back", () => {
    expect(states(after(command("k"), result("k", "delivered")))).toEqual(["k delivered"]);
    expect(states(after(command("k"), result("k", "delivered"), result("k", "accepted")))).toEqual(["k delivered"]);
    expect(states(after(command("k"), result("k", "delivered"), result("k", "delivered", "again")))).toEqual(["k delivered"]);
    for (const end of ["acknowledged", "refused", "expired"]) {
      expect(states(after(command("k"), result("k", end), result("k", "expired"), result("k", "delivered")))).toEqual([`k ${end}`]);
    }
    expect(after(command("k"), result("k", "refused", "agent_busy")).commands[0]?.reason).toBe("agent_busy");
  });
  it("are not moved by results of others, or of states that nobody knows", () => {
    expect(states(after(command("k"), result("other", "delivered"), result("k", "lost")))).toEqual(["k accepted"]);
  });
  it("are forgotten from the oldest settled one on, and never while they are open", () => {
    const many = Array.from({length: 66}, (_, n) => [command(`k${n}`), ...(n === 0 ? [] : [result(`k${n}`, "acknowledged")])]).flat();
    const kept = after(...many).commands.map((each) => each.id);
    expect(kept).toHaveLength(64);
    expect(kept.slice(0, 2)).toEqual(["k0", "k3"]);
    expect(after(...Array.from({length: 66}, (_, n) => command(`k${n}`))).commands).toHaveLength(66);
    expect(after(...many.slice(0, 127)).commands).toHaveLength(64);
    const settled = Array.from({length: 66}, (_, n) => [command(`k${n}`), result(`k${n}`, "acknowledged")]).flat();
    expect(after(...settled).commands.map((each) => each.id).slice(0, 2)).toEqual(["k2", "k3"]);
  });
});

describe("approvals in the fold", () => {
  it("are open while they are asked for, with all that was said", () => {
    const asked = {kind: "permission", tool: "Read", expiresAt: "2026-01-01T00:01:00Z"};
    expect(after(approval("a", "pending", asked, {summary: "Reads x"})).approvals).toEqual(
      [{id: "a", kind: "permission", tool: "Read", summary: "Reads x", sequence: 1, expiresAt: "2026-01-01T00:01:00Z"}]);
    expect(after(approval("a", "pending", asked, {tool: "Bash"})).approvals[0]?.tool).toBe("Bash");
    expect(after(approval("a", "open")).approvals).toHaveLength(1);
    expect(after(approval("", "open")).approvals).toEqual([]);
  });
  it("are over with any other state, and last when they are asked for again", () => {
    const both = [approval("a", "pending"), approval("b", "pending")];
    expect(after(...both, approval("a", "approved")).approvals.map((each) => each.id)).toEqual(["b"]);
    expect(after(...both, approval("a", "pending")).approvals.map((each) => each.id)).toEqual(["b", "a"]);
  });
  it("make room from the oldest on", () => {
    const many = Array.from({length: 65}, (_, n) => approval(`a${n}`, "pending"));
    expect(after(...many.slice(0, 64)).approvals[0]?.id).toBe("a0");
    expect(after(...many).approvals.map((each) => each.id)).toEqual(many.slice(1).map(([, data]) => data["approvalID"]));
  });
});

it("the end of a task refuses what was not delivered, and nothing is asked any more", () => {
  const state = after(["thinking", {}], approval("a", "pending"), command("k"), command("d"), result("d", "delivered"), command("r"), result("r", "refused", "agent_busy"),
    ["status", {state: "completed"}], command("late"));
  expect(state.approvals).toEqual([]);
  expect(state.commands.map((each) => [each.id, each.state, each.reason])).toEqual(
    [["k", "refused", "task_ended"], ["d", "delivered", ""], ["r", "refused", "agent_busy"]]);
});
