import {describe, expect, it} from "vitest";
import type {TaskEvent} from "../api/types";
import {ToolUse} from "./tool_use";

let next = 0;
const event = (more: Partial<TaskEvent>): TaskEvent => ({
  sequence: ++next, type: "tool_call", summary: "", version: 1,
  timestamp: "2026-01-01T00:00:00.000Z", receivedAt: "2026-01-01T00:00:00.000Z", ...more,
});

describe("tool use", () => {
  it("counts calls, failures and times, up to a moment", () => {
    next = 0;
    const use = new ToolUse();
    const log = [
      event({tool: "Bash", callID: "a"}),
      event({type: "tool_result", callID: "a", durationMS: 10, output: {success: true, summary: ""}}),
      event({tool: "Bash", callID: "b"}),
      event({type: "tool_result", callID: "b", durationMS: 90, output: {success: false, summary: ""}}),
      event({tool: "Edit", callID: "c", input: {file_path: "/a.ts"}}),
    ];
    log.forEach((each) => use.add(each));
    log.forEach((each) => use.add(each));  // adding an event twice counts it once
    expect(use.tools()).toEqual([
      {tool: "Bash", calls: 2, failures: 1, medianMS: 50, longestMS: 90},
      {tool: "Edit", calls: 1, failures: 0, medianMS: undefined, longestMS: undefined}]);
    expect(use.tools(3)).toEqual([{tool: "Bash", calls: 2, failures: 0, medianMS: 10, longestMS: 10}]);
    expect(use.files()).toEqual([{path: "/a.ts", changes: 1, last: 5}]);
    expect(use.files(4)).toEqual([]);
  });

  it("pages may come newest first: a result finds its call when that comes", () => {
    const use = new ToolUse();
    use.from = 10;
    use.add(event({sequence: 11, type: "tool_result", callID: "a", durationMS: 7, output: {success: false, summary: ""}}));
    use.add(event({sequence: 12, type: "tool_call", callID: "b", tool: "Read"}));
    expect(use.tools()).toEqual([{tool: "Read", calls: 1, failures: 0, medianMS: undefined, longestMS: undefined}]);
    use.add(event({sequence: 9, type: "tool_call", callID: "a", tool: "Bash"}));
    expect(use.tools().map((line) => line.tool)).toEqual(["Read"]);
    use.from = 1;
    expect(use.tools().find((line) => line.tool === "Bash")).toMatchObject({calls: 1, failures: 1, medianMS: 7});
    expect(use.failures()).toEqual([11]);
  });
});
