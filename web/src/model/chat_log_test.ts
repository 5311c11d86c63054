import {describe, expect, it} from "vitest";
import type {JsonObject, Task, TaskEvent} from "../api/types";
import {ChatLog, promptOf, rowFor, rowKind} from "./chat_log";
import {TaskLog} from "./log";
import {eventOf} from "./shape";

// A log as the server writes it: the events in order, numbered.
class Written {
  readonly log = new TaskLog();
  readonly chat = new ChatLog();
  task = {id: "c", lastSequence: 0, commands: [], status: {state: "running"}} as unknown as Task;

  constructor(...events: JsonObject[]) {
    this.add(...events);
    this.task.lastSequence = this.log.last;
  }
  add(...events: JsonObject[]): this {
    for (const each of events) {
      const sequence = this.log.last + 1;
      const event = eventOf({sequence, timestamp: "2026-11-18T10:00:00Z", receivedAt: `2026-11-18T10:00:${String(sequence).padStart(2, "0")}Z`, summary: "", ...each});
      this.log.add(event);
      this.chat.note(event);
    }
    return this;
  }
  at(sequence: number): TaskEvent {
    return this.log.at(sequence)!;
  }
  kinds(): (string | null)[] {
    return Array.from({length: this.log.last}, (_, n) => rowKind(this.log, this.chat, this.at(n + 1), this.task));
  }
}

const start: JsonObject = {type: "session_start", data: {model: "m", contextTokens: 8192, tools: ["read_file"], system: "Be terse."}};
const says = (role: string, content: string, more: JsonObject = {}, event: JsonObject = {}): JsonObject => ({type: "message", data: {role, content, tokens: 10, ...more}, ...event});
const status = (state: string): JsonObject => ({type: "status", data: {state}});
const calls = (...ids: string[]): JsonObject => says("assistant", "", {toolCalls: ids.map((id) => ({id, name: "read_file", arguments: `{"path":"${id}"}`}))});
const call = (id: string): JsonObject => ({type: "tool_call", tool: "read_file", callID: id, input: {path: id}, summary: `Reads ${id}`});
const result = (id: string): JsonObject => ({type: "tool_result", tool: "read_file", callID: id, output: {success: true, summary: "ok"}, durationMS: 5});
const told = (id: string): JsonObject => says("tool", "ok", {toolCallID: id, toolName: "read_file"}, {callID: id, tool: "read_file"});
const final = (content: string, more: JsonObject = {}): JsonObject => says("assistant", content, {final: true, ...more});
const usage = (costUSD: number, unpriced = false): JsonObject => ({type: "usage", data: {costUSD, ...(unpriced ? {unpriced} : {})}});
const evicts = (messages: unknown, totalTokens: number, reason = "context"): JsonObject => ({type: "eviction", data: {reason, messages, messagesEvicted: 1, tokensFreed: 20, totalTokens}});
const command = (id: string, kind: string, content = ""): JsonObject => ({type: "command", data: {id, kind, content, by: "ada"}});
const settles = (id: string, state: string, reason = ""): JsonObject => ({type: "command_result", data: {id, state, reason}});

describe("the rows of a chat", () => {
  it("of a turn with a tool: the prompt, one card, the answer", () => {
    const made = new Written(start, status("running"), says("user", "Read it"), usage(0.1), calls("c1"), call("c1"), result("c1"), told("c1"), usage(0.2), final("It says ok"), status("paused"));
    expect(made.kinds()).toEqual(["start", null, "prompt", null, null, "tool", null, null, null, "answer", null]);
    expect(made.chat.result("c1")).toBe(8);
    expect(made.chat.requested("c1")).toEqual({name: "read_file", arguments: '{"path":"c1"}'});
    expect(made.chat.start).toEqual({sequence: 1, model: "m", system: "Be terse.", tools: ["read_file"], contextTokens: 8192});
  });

  it("of a fork, which has messages only: the tool's message is the card", () => {
    expect(new Written(start, says("user", "Read it"), calls("c1"), told("c1"), final("ok"), status("paused")).kinds()).toEqual(["start", "prompt", null, "result", "answer", null]);
  });

  it("of approvals: in the card of their call, answers too", () => {
    const asks = (state: string): JsonObject => ({type: "approval", callID: "c1", data: {approvalID: "c1", state}});
    expect(new Written(call("c1"), asks("pending"), status("waiting_for_input"), command("k", "approve"), asks("approved"), settles("k", "acknowledged"), result("c1")).kinds()).toEqual(["tool", null, null, null, null, null, null]);
    expect(new Written(asks("pending"), asks("denied")).kinds()).toEqual(["approval", null]);
  });

  it("of what is said before tools, of reasoning, and of silence", () => {
    expect(new Written(says("assistant", "I look.", {toolCalls: [{id: "c", name: "x"}]}), says("assistant", "", {reasoning: "hm"}), final(""), says("assistant", "")).kinds()).toEqual(["answer", "answer", "answer", null]);
  });

  it("of errors, evictions, remarks, ends, and what is not known", () => {
    expect(new Written({type: "error", data: {code: "x"}}, evicts([], 0), {type: "log"}, status("cancelled"), {type: "new_kind"}, command("k", "set_mode"), command("s", "stop"), command("i", "interrupt")).kinds())
      .toEqual(["error", "eviction", "remark", "end", "other", "command", "command", null]);
  });

  it("of prompts that were sent: only what came to nothing", () => {
    const made = new Written(command("a", "queue", "one"), command("b", "queue", "two"), settles("a", "acknowledged"), settles("b", "refused", "the conversation was cleared"));
    expect(made.kinds()).toEqual([null, "refused", null, null]);
    expect(made.chat.outcome("b", made.task)).toEqual({state: "refused", reason: "the conversation was cleared"});
  });
});

describe("the row for an event", () => {
  it("is its own, its call's card, or one before it", () => {
    const made = new Written(start, status("running"), says("user", "Read it"), usage(0.1), calls("c1"), call("c1"), result("c1"), told("c1"), usage(0.2), final("ok"), status("paused"));
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((n) => rowFor(made.log, made.chat, made.task, n))).toEqual([1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10]);
    expect(rowFor(made.log, made.chat, made.task, 99)).toBe(99);
    const none = new Written(status("running"), usage(1));
    expect(rowFor(none.log, none.chat, none.task, 2)).toBe(2);
  });
});

describe("prompts that wait", () => {
  it("are those that no result has settled, from the log and from the row", () => {
    const made = new Written(command("a", "queue", "one"), command("b", "steer", "two"));
    made.task = {...made.task, commands: [{id: "a", kind: "queue", state: "accepted", sequence: 1}, {id: "b", kind: "steer", state: "accepted", sequence: 2}]} as unknown as Task;
    made.add(command("c", "queue", "three"));  // newer than the row
    expect(made.chat.waiting(made.log, made.task).map((each) => [each.text, each.now])).toEqual([["one", false], ["two", true], ["three", false]]);
    made.add(says("user", "one"), settles("a", "delivered"), settles("c", "accepted"));
    expect(made.chat.waiting(made.log, made.task).map((each) => each.text)).toEqual(["two", "three"]);
  });

  it("are not old ones whose end is not held", () => {
    const made = new Written(command("a", "queue", "one"));
    made.task = {...made.task, lastSequence: 90, commands: []} as unknown as Task;
    expect(made.chat.waiting(made.log, made.task)).toEqual([]);
    made.task = {...made.task, commands: [{id: "a", kind: "queue", state: "acknowledged", sequence: 1}]} as unknown as Task;
    expect(made.chat.waiting(made.log, made.task)).toEqual([]);
  });
});

describe("the context", () => {
  it("is the newest total and what came after it", () => {
    const made = new Written(says("user", "a", {tokens: 7, totalTokens: 107, tokensExact: true}));
    expect(made.chat.context()).toEqual({tokens: 107, exact: true});
    made.add(calls("c1"), told("c1"));
    expect(made.chat.context()).toEqual({tokens: 127, exact: false});
    made.add(final("b", {totalTokens: 140, tokensExact: true}));
    expect(made.chat.context()).toEqual({tokens: 140, exact: true});
    made.add(evicts([1], 60));
    expect(made.chat.context()).toEqual({tokens: 60, exact: true});
    made.add(evicts([], 0, "cleared"));
    expect(made.chat.context()).toEqual({tokens: 0, exact: true});
  });

  it("is not known without a message, and does not depend on the order of reading", () => {
    expect(new ChatLog().context()).toBeUndefined();
    const made = new Written(says("user", "a", {totalTokens: 10}), final("b", {totalTokens: 30}), says("user", "c", {tokens: 4}));
    const backwards = new ChatLog();
    for (const n of [3, 1, 2, 3]) backwards.note(made.at(n));
    expect(backwards.context()).toEqual(made.chat.context());
    expect(backwards.context()?.tokens).toBe(34);
  });

  it("has lost what an eviction names, whenever that is read", () => {
    const made = new Written(says("user", "a"), final("b"), says("user", "c"), evicts([1, 2], 10), evicts([3], 0, "cleared"));
    expect([1, 2, 3, 4].map((n) => made.chat.gone(n))).toEqual([{sequence: 4, cleared: false}, {sequence: 4, cleared: false}, {sequence: 5, cleared: true}, undefined]);
    const odd = new Written(evicts("all", -3), evicts([null, "1", {}, 7], 1));
    expect(odd.chat.gone(7)).toEqual({sequence: 2, cleared: false});
    expect(odd.chat.gone(1)).toBeUndefined();
  });
});

describe("the rest of the head", () => {
  it("has the newest cost, and says when a price was missing", () => {
    const made = new Written(usage(0.5), usage(0.25, true));
    expect(made.chat.cost).toEqual({usd: 0.25, unpriced: true});
    made.chat.note(eventOf({sequence: 1, type: "usage", data: {costUSD: 9}}));
    expect(made.chat.cost).toEqual({usd: 0.25, unpriced: true});
  });
  it("knows what ended the live text", () => {
    const made = new Written(says("user", "a"), calls("c1"), told("c1"));
    expect([made.chat.said, made.chat.asked]).toEqual([2, 1]);
    made.add({type: "error", data: {final: false}});
    expect(made.chat.said).toBe(2);
    made.add({type: "error", data: {final: true}});
    expect(made.chat.said).toBe(5);
  });
});

describe("the turn of an answer", () => {
  it("begins with its prompt, not with a word that came meanwhile", () => {
    const made = new Written(start, says("user", "one"), final("a"), status("paused"), says("user", "two"), calls("c1"), call("c1"), result("c1"), told("c1"), says("user", "a word"), final("b"));
    expect(promptOf(made.log, 3)?.sequence).toBe(2);
    expect(promptOf(made.log, 11)?.sequence).toBe(5);
  });
  it("ends at an error, and is not known if a part is not held", () => {
    const made = new Written(says("user", "one"), {type: "error", data: {final: true}}, says("user", "two"), final("b"));
    expect(promptOf(made.log, 4)?.sequence).toBe(3);
    const hole = new TaskLog();
    hole.add(made.at(1));
    hole.add(made.at(4));
    expect(promptOf(hole, 4)).toBeUndefined();
  });
});
