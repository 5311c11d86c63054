// A task's use of its tools, from calls and results: counts, failures, times, files. Up to any moment.
import type {TaskEvent} from "../api/types";
import {outputOf, textOf} from "./shape";

interface Call {
  sequence: number;
  tool: string;
  file: string;
  result: number;  // its sequence; 0 if there is none yet
  failed: boolean;
  denied: boolean;
  ms: number | undefined;
}

export interface ToolLine {
  tool: string;
  calls: number;
  failures: number;
  medianMS: number | undefined;
  longestMS: number | undefined;
}

// The median of ascending numbers: the mean of the two in the middle, as the server computes it.
function median(times: readonly number[]): number | undefined {
  const half = times.length >> 1;
  const [low, high] = [times[times.length % 2 === 0 ? half - 1 : half], times[half]];
  return low === undefined || high === undefined ? undefined : (low + high) / 2;
}

const kChanges = new Set(["Edit", "MultiEdit", "Write", "NotebookEdit"]);

export class ToolUse {
  from = 1;  // events before this one are not counted
  #calls: Call[] = [];
  #byID = new Map<string, Call>();
  #early = new Map<string, TaskEvent>();  // results that arrived before their call
  #seen = new Set<number>();
  #failures: readonly number[] | null = [];

  add(event: TaskEvent): void {
    if (this.#seen.has(event.sequence)) return;
    if (event.type === "tool_call") {
      this.#seen.add(event.sequence);
      const file = kChanges.has(event.tool ?? "") ? textOf(event.input, "file_path") || textOf(event.input, "notebook_path") : "";
      const call: Call = {sequence: event.sequence, tool: event.tool ?? "tool", file, result: 0, failed: false, denied: false, ms: undefined};
      this.#calls.push(call);
      if (!event.callID) return;
      this.#byID.set(event.callID, call);
      const result = this.#early.get(event.callID);
      if (result) this.#settle(call, result);
      this.#early.delete(event.callID);
    } else if (event.type === "tool_result") {
      this.#seen.add(event.sequence);
      const call = event.callID ? this.#byID.get(event.callID) : undefined;
      if (call) this.#settle(call, event);
      else if (event.callID) this.#early.set(event.callID, event);
    }
  }

  #settle(call: Call, result: TaskEvent): void {
    if (call.failed || outputOf(result).failed) this.#failures = null;
    call.result = result.sequence;
    ({failed: call.failed, denied: call.denied} = outputOf(result));
    call.ms = result.durationMS;
  }

  // Failed calls, by the sequence of their results, ascending. The same list until there is another one.
  failures(): readonly number[] {
    return this.#failures ??= this.#calls.filter((call) => call.failed).map((call) => call.result).sort((a, b) => a - b);
  }

  tools(until = Infinity): ToolLine[] {
    const lines = new Map<string, {calls: number; failures: number; times: number[]}>();
    for (const call of this.#calls) {
      if (call.sequence > until || call.sequence < this.from) continue;
      const line = lines.get(call.tool) ?? {calls: 0, failures: 0, times: []};
      lines.set(call.tool, line);
      ++line.calls;
      if (call.result === 0 || call.result > until) continue;
      if (call.failed) ++line.failures;
      if (call.ms !== undefined) line.times.push(call.ms);
    }
    return [...lines].map(([tool, line]) => {
      const times = line.times.sort((a, b) => a - b);
      return {tool, calls: line.calls, failures: line.failures, medianMS: median(times), longestMS: times[times.length - 1]};
    }).sort((a, b) => b.calls - a.calls || (a.tool < b.tool ? -1 : 1));
  }

  // Changed files, the most recently changed first.
  files(until = Infinity): {path: string; changes: number; last: number}[] {
    const files = new Map<string, {path: string; changes: number; last: number}>();
    for (const call of this.#calls) {
      if (!call.file || call.sequence > until || call.sequence < this.from || call.failed || call.denied) continue;
      const file = files.get(call.file) ?? {path: call.file, changes: 0, last: 0};
      files.set(call.file, file);
      ++file.changes;
      file.last = Math.max(file.last, call.sequence);
    }
    return [...files.values()].sort((a, b) => b.last - a.last);
  }
}
