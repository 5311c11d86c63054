// Finds the failed steps of a log: error events and failed results. Reads what is not held; asks for no event twice.
import type {TaskEvent} from "../api/types";
import type {TaskLog} from "./log";
import {outputOf} from "./shape";
import type {ToolUse} from "./tool_use";

export interface Steps {
  log: TaskLog;
  use: ToolUse;                 // calls and results since use.from
  readAllCalls(): Promise<void>;  // extends `use` to the beginning of the log
  errorAfter(sequence: number): Promise<number | undefined>;   // the nearest event of type `error`
  errorBefore(sequence: number): Promise<number | undefined>;
}

const isError = (event: TaskEvent | undefined): boolean =>
  event?.type === "error" || (event?.type === "tool_result" && outputOf(event).failed);

const least = (numbers: (number | undefined)[]) => numbers.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a), undefined);
const most = (numbers: (number | undefined)[]) => numbers.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined);

export async function stepAfter({log, use, readAllCalls, errorAfter}: Steps, from: number): Promise<number | undefined> {
  let n = from + 1;
  for (; n <= log.last && log.has(n); ++n) if (isError(log.at(n))) return n;
  if (n > log.last) return undefined;
  if (use.from > Math.max(n, log.first)) await readAllCalls();
  return least([await errorAfter(n - 1), use.failures().find((each) => each >= n)]);
}

export async function stepBefore({log, use, readAllCalls, errorBefore}: Steps, from: number): Promise<number | undefined> {
  let n = Math.min(from, log.last + 1) - 1;
  for (; n >= log.first && log.has(n); --n) if (isError(log.at(n))) return n;
  if (n < log.first) return undefined;
  const error = await errorBefore(n + 1);
  const failed = () => use.failures().filter((each) => each <= n).pop();
  if (use.from > log.first && (failed() ?? error ?? 0) < use.from) await readAllCalls();
  return most([error, failed()]);
}
