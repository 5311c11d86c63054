import {describe, expect, it} from "vitest";
import type {TaskEvent} from "../api/types";
import {askedOf, countOf, cutFrom, editsOf, eventOf, isCut, objectsOf, outputOf, processesOf, questionsOf, redactionsIn, textsOf, wholeOf} from "./shape";
import {ToolUse} from "./tool_use";

const event = (members: object): TaskEvent => eventOf({sequence: 1, timestamp: "2026-01-01T00:00:00Z", receivedAt: "2026-01-01T00:00:00Z", type: "tool_result", summary: "", version: 1, ...members});
const kBad: unknown[] = [undefined, null, 0, "text", true, [], [null], [1], [[]], {}, {a: null}];

describe("what agents write", () => {
  it.each(kBad.map((bad) => [bad]))("becomes values of known types: %j", (bad) => {
    const all = event({tool: bad, callID: bad, input: bad, output: bad, data: bad, durationMS: bad, cut: bad, summary: bad, type: bad, timestamp: bad});
    expect(typeof all.summary).toBe("string");
    expect(["undefined", "string"]).toContain(typeof all.tool);
    expect(["undefined", "number"]).toContain(typeof all.durationMS);
    for (const from of [event({data: {approvalID: bad, input: bad, remember: bad, kind: bad, questions: bad}}), all]) {
      const asked = askedOf(from);
      expect(typeof asked.approvalID).toBe("string");
      expect(asked.remember.every((each) => typeof each === "string")).toBe(true);
      expect(outputOf(from).summary).toBeTypeOf("string");
    }
    for (const list of [questionsOf({questions: bad}), processesOf(bad), editsOf({edits: bad}), editsOf(bad), objectsOf(bad), textsOf(bad)]) expect(Array.isArray(list)).toBe(true);
    expect(wholeOf({output: bad} as never, "output")).toBeTypeOf("string");
  });
  it("of questions keeps what can be asked", () => {
    expect(questionsOf({questions: [null, 1, {question: "Which?", multiSelect: true, options: [null, {label: "A", description: 3}, {label: "B", description: "b"}]}]})).toEqual(
      [{question: "Which?", many: true, options: [{label: "A", description: ""}, {label: "B", description: "b"}]}]);
  });
});

describe("the whole of what was cut", () => {
  it("is an object with the text in it, as the server keeps it, or what the agent gave", () => {
    expect(wholeOf({output: {success: true, summary: "1\n2"}, raw: {}}, "output")).toBe("1\n2");
    expect(wholeOf({output: "plain"}, "output")).toBe("plain");
    expect(JSON.parse(wholeOf({output: {rows: [1, 2]}}, "output"))).toEqual({rows: [1, 2]});
    expect(wholeOf({text: "all"}, "text")).toBe("all");
    expect(wholeOf({raw: {}}, "text")).toBe("");
  });
  it("is said by the event; of older ones it is guessed", () => {
    expect(isCut(event({cut: {text: 18197}}), "text", "short")).toBe(true);
    expect(isCut(event({cut: {output: 900}}), "text", "ends in …")).toBe(false);
    expect(isCut(event({}), "output", "so far... (truncated)")).toBe(true);
    expect(isCut(event({}), "text", "x".repeat(16 * 1024))).toBe(true);
    expect(isCut(event({}), "text", "ü".repeat(8 * 1024))).toBe(true);
    expect(isCut(event({}), "text", "x".repeat(16 * 1024 - 10))).toBe(false);
    expect(isCut(event({input: {command: "x".repeat(500)}}), "input")).toBe(true);
    expect(isCut(event({input: {command: "x".repeat(499)}}), "input")).toBe(false);
  });
});

describe("a denied call", () => {
  const call = {...event({callID: "c", tool: "Edit", input: {file_path: "/x"}}), type: "tool_call"};
  const result = (output: object) => ({...event({callID: "c", output}), sequence: 2});
  it("is no failure", () => {
    expect(outputOf(result({success: false, denied: true}))).toMatchObject({failed: false, denied: true});
    expect(outputOf(result({success: false}))).toMatchObject({failed: true, denied: false});
    expect(outputOf(result({success: true, summary: "ok"}))).toEqual({failed: false, denied: false, summary: "ok"});
  });
  it("is not counted as one, and changed no file", () => {
    const use = new ToolUse();
    use.add(call);
    use.add(result({success: false, denied: true}));
    expect(use.tools()[0]).toMatchObject({calls: 1, failures: 0});
    expect(use.failures()).toEqual([]);
    expect(use.files()).toEqual([]);
  });
});

it("redactions of both forms are found, once each", () => {
  expect(redactionsIn({command: "curl -u a:[redacted:password:12] [redacted:token] [redacted] [redacted:token]", deep: [{x: "[redacted:api_key:3]"}]})).toEqual(
    ["[redacted:password:12]", "[redacted:token]", "[redacted]", "[redacted:api_key:3]"]);
  expect(redactionsIn({command: "ls [redacted:"})).toEqual([]);
});

describe("what is as it should be", () => {
  it("of an event is kept, all of it", () => {
    const good = {sequence: 7, type: "tool_call", summary: "s", timestamp: "2026-01-01T00:00:00Z", receivedAt: "2026-01-01T00:00:01Z", version: 1, tool: "Bash", callID: "c",
      parentCallID: "p", sessionID: "x", producer: "r", input: {a: 1}, data: {b: 2}, output: {success: true}, metadata: {m: 1}, cut: {text: 9}, durationMS: 5};
    expect(eventOf(good)).toEqual(good);
    expect(eventOf(null)).toEqual({type: "", summary: "", timestamp: "", receivedAt: "", sequence: 0});
    expect(Object.keys(eventOf({...good, tool: "", parentCallID: 1, sessionID: null, producer: [], metadata: 3, durationMS: Infinity})).sort()).toEqual(
      ["callID", "cut", "data", "input", "output", "receivedAt", "sequence", "summary", "timestamp", "type", "version"]);
    const bad = eventOf({...good, input: "x", data: [], output: 1, cut: null, metadata: true, callID: 7});
    for (const name of ["input", "data", "output", "cut", "metadata", "callID"]) expect(name in bad, name).toBe(false);
  });
  it("of an approval is told", () => {
    const data = {approvalID: "a", kind: "permission", tool: "Read", input: {path: "/x"}, expiresAt: "soon", remember: ["Bash(ls)", 3]};
    const asked = {approvalID: "a", kind: "permission", tool: "Read", input: {path: "/x"}, inputIsCut: false, expiresAt: "soon", remember: ["Bash(ls)"], options: [], redacted: [], sequence: 1};
    expect(askedOf(event({data}))).toEqual(asked);
    expect(askedOf(event({data, tool: "Bash"})).tool).toBe("Bash");
    for (const more of [{data: {...data, inputCut: true}}, {data, cut: {input: 9}}, {data, cut: {data: 9}}]) expect(askedOf(event(more)).inputIsCut).toBe(true);
    expect(askedOf(event({data, cut: {summary: 9}})).inputIsCut).toBe(false);
  });
  it("of edits and processes is told", () => {
    expect(editsOf({edits: [{old_string: "a", new_string: "b"}, {content: "c"}, {old_string: "d"}]})).toEqual(
      [{before: "a", after: "b", isFile: false}, {before: "", after: "c", isFile: true}]);
    expect(editsOf({file_path: "/x", content: "all"})).toEqual([{before: "", after: "all", isFile: true}]);
    expect(editsOf({file_path: "/x"})).toEqual([]);
    expect(processesOf([{pid: 7, how: "killed", name: "sh"}, {pid: "7"}])).toEqual([{pid: "7", how: "killed", name: "sh"}, {pid: "?", how: "", name: ""}]);
    expect(questionsOf({questions: [{question: ""}, {question: "Why?", multiSelect: "yes"}]})).toEqual([{question: "Why?", many: false, options: []}]);
  });
  it("of counts is a whole number from 0 on", () => {
    expect([2.6, -1, NaN, "3", undefined].map((a) => countOf({a}, "a"))).toEqual([3, 0, 0, 0, 0]);
    expect([cutFrom(event({cut: {text: 900}}), "text"), cutFrom(event({cut: {text: 900}}), "output"), cutFrom(event({}), "text")]).toEqual([900, undefined, undefined]);
  });
  it("of older events seems cut where a text fills its room", () => {
    const text = (shown: string, what: "text" | "output" = "text") => isCut(event({}), what, shown);
    expect([-4, -3, 0, 1].map((more) => text("x".repeat(16 * 1024 + more)))).toEqual([false, true, true, false]);
    expect(text("x".repeat(16 * 1024), "output")).toBe(false);
    expect(text("漢".repeat(5461))).toBe(true);
    expect(text("ends in …", "output")).toBe(true);
    const input = (command: unknown) => isCut(event({input: {command}}), "input");
    expect(["👩".repeat(500), "x".repeat(501), "👩".repeat(250), 500].map(input)).toEqual([true, false, false, false]);
  });
});
