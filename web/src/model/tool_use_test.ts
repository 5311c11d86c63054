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
    use.add(event({sequence: 13, type: "tool_call", callID: "a", tool: "Bash"}));
    expect(use.failures()).toEqual([11]);  // a result belongs to one call
  });

  it("counts a moment itself to what came before it, and the beginning to what follows", () => {
    next = 0;
    const use = new ToolUse();
    const log = [event({tool: "Write", callID: "a", input: {file_path: "/a"}}), event({type: "tool_result", callID: "a", durationMS: 4, output: {success: true, summary: ""}}),
      event({tool: "Write", callID: "b", input: {file_path: "/b"}})];
    log.forEach((each) => use.add(each));
    expect(use.tools(1)[0]).toMatchObject({calls: 1, longestMS: undefined});
    expect(use.tools(2)[0]).toMatchObject({calls: 1, longestMS: 4});
    expect(use.files(3).map((file) => file.path)).toEqual(["/b", "/a"]);
    use.from = 3;
    expect(use.tools()[0]).toMatchObject({calls: 1});
    expect(use.files()).toEqual([{path: "/b", changes: 1, last: 3}]);
  });

  it("lists the busiest tool first, those alike by name, and the middle time", () => {
    next = 0;
    const use = new ToolUse();
    const call = (tool: string | undefined, ms: number) => {
      const callID = `c${next}`;
      use.add(event({callID, ...(tool ? {tool} : {})}));
      use.add(event({type: "tool_result", callID, durationMS: ms, output: {success: true, summary: ""}}));
    };
    call("Read", 1);
    call("Bash", 30);
    call("Bash", 10);
    call("Bash", 2);
    call("Glob", 8);
    call("Glob", 4);
    call("Edit", 1);
    call(undefined, 1);
    use.add(event({tool: "Bash"}));
    expect(use.tools().map((line) => [line.tool, line.calls, line.medianMS, line.longestMS])).toEqual(
      [["Bash", 4, 10, 30], ["Glob", 2, 6, 8], ["Edit", 1, 1, 1], ["Read", 1, 1, 1], ["tool", 1, 1, 1]]);
  });

  it("knows the files of every tool that changes one, and not those of failures", () => {
    next = 0;
    const use = new ToolUse();
    for (const [tool, input] of [["Edit", {file_path: "/e"}], ["MultiEdit", {file_path: "/m"}], ["Write", {file_path: "/e"}], ["NotebookEdit", {notebook_path: "/n"}], ["Read", {file_path: "/r"}]] as const) {
      use.add(event({tool, input}));
    }
    use.add(event({tool: "Edit", callID: "bad", input: {file_path: "/bad"}}));
    use.add(event({type: "tool_result", callID: "bad", output: {success: false, summary: ""}}));
    expect(use.files()).toEqual([{path: "/n", changes: 1, last: 4}, {path: "/e", changes: 2, last: 3}, {path: "/m", changes: 1, last: 2}]);
  });
});
