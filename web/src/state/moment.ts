// A task's state at a moment of its log. The page folds the log itself if it holds everything up to the moment, and
// otherwise asks the server.
import {api, ApiError} from "../api/client";
import type {Task} from "../api/types";
import {fold, newTaskState, type TaskState} from "../model/fold";
import type {TaskView} from "./task_view";

export interface Moment {
  task: Task;
  sequence: number;
  missing: string;  // why the state at that moment is unavailable
}

const kMostFolded = 2000;
const folded = new WeakMap<TaskView, {at: number; state: TaskState}>();

function foldTo(view: TaskView, at: number): TaskState | null {
  if (view.log.first !== 1 || at > kMostFolded) return null;
  let cached = folded.get(view);
  if (!cached || cached.at > at) cached = {at: 0, state: newTaskState()};
  for (let n = cached.at + 1; n <= at; ++n) {
    const event = view.log.at(n);
    if (!event) return null;
    fold(cached.state, event, event.producer === "server");
    cached.at = n;
  }
  folded.set(view, cached);
  return cached.state;
}

function taskWith(task: Task, state: TaskState): Task {
  return {
    ...task, model: state.model || task.model, errors: state.errors, toolCalls: state.toolCalls, usage: {...state.usage},
    activity: state.activity, lastSequence: state.lastSequence,
    status: {...task.status, state: state.state, message: state.message, prURL: state.prURL, error: state.error},
    commands: state.commands.map((each) => ({...each})),
    approvals: state.approvals.map((each) => ({approvalID: each.id, kind: each.kind, tool: each.tool, summary: each.summary, sequence: each.sequence})),
  };
}

export async function stateAt(view: TaskView, at: number, signal?: AbortSignal): Promise<Moment> {
  const task = view.task.peek()!;
  const state = foldTo(view, at);
  if (state) return {task: taskWith(task, state), sequence: at, missing: ""};
  try {
    const then = await api.task(view.id, at, signal);
    return {task: then, sequence: at, missing: then.lastSequence === at ? "" : "(the state shown is the newest: this server does not know the one then)"};
  } catch (error) {
    if (error instanceof ApiError && error.status === 410) return {task, sequence: at, missing: "(no longer kept)"};
    throw error;
  }
}
