// A task's state as a shape and a word. Colour only repeats them.
import type {State} from "../api/types";

const kWords: Record<State, string> = {
  queued: "queued", starting: "starting", running: "running", waiting_for_input: "waiting", paused: "paused",
  interrupted: "interrupted", completed: "completed", failed: "failed", timed_out: "timed out", cancelled: "cancelled",
};

const kShapes: Record<State, string> = {
  queued: "M6 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8",
  starting: "M6 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8M6 6V2A4 4 0 0 1 10 6Z",
  running: "M3 2L10 6L3 10Z",
  waiting_for_input: "M6 1L11 6L6 11L1 6Z",
  paused: "M4 2V10M8 2V10",
  interrupted: "M2 2H10V10H2Z",
  completed: "M2 6.5L5 9.5L10 3",
  failed: "M2.5 2.5L9.5 9.5M9.5 2.5L2.5 9.5",
  timed_out: "M2.5 1.5H9.5L6 6L9.5 10.5H2.5L6 6Z",
  cancelled: "M6 2a4 4 0 1 0 0 8a4 4 0 1 0 0-8M3.2 3.2L8.8 8.8",
};

export const stateWord = (state: State): string => kWords[state] ?? state;

export function StateMark({state}: {state: State}) {
  return (
    <span class={`state state-${state}`}>
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><path d={kShapes[state] ?? kShapes.queued} /></svg>
      <span>{stateWord(state)}</span>
    </span>
  );
}
