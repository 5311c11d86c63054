// The form of a new task: what it sends, and what it shows of an earlier task whose request is sent again. Pure.
import type {TaskRequest} from "../api/types";
import {numberOf, objectOf, textOf, textsOf} from "./shape";

export interface Form {
  prompt: string;
  title: string;
  agent: string;
  model: string;
  mode: string;
  repo: string;
  ref: string;
  budget: string;
  also: TaskRequest;  // what the form has no fields for
}

export const kEmptyForm: Form = {prompt: "", title: "", agent: "claude", model: "", mode: "interactive", repo: "", ref: "", budget: "", also: {}};

export function requestOf(form: Form): TaskRequest {
  return {
    ...form.also, prompt: form.prompt,
    ...(form.title && {title: form.title}), ...(form.agent && {agent: form.agent}), ...(form.model && {model: form.model}),
    ...(form.mode && {mode: form.mode}), ...(form.repo && {repo: {url: form.repo, ref: form.ref}}),
    ...(form.budget && {budget: Number(form.budget)}),
  };
}

// The request with which a task was created, from its answer.
export function formOf(task: unknown): Form {
  const [from, budget] = [objectOf(task) ?? {}, numberOf(objectOf(task)?.["budget"])];
  const also: TaskRequest = {};
  const [tools, command, turns, timeout, labels] = [textsOf(from["allowedTools"]), textsOf(from["command"]), numberOf(from["maxTurns"]), numberOf(from["timeout"]), objectOf(from["labels"])];
  if (tools.length > 0) also.allowedTools = tools;
  if (command.length > 0) also.command = command;
  if (turns !== undefined) also.maxTurns = turns;
  if (timeout !== undefined) also.timeout = timeout;
  if (labels && Object.keys(labels).length > 0) also.labels = Object.fromEntries(Object.keys(labels).map((name) => [name, textOf(labels, name)]));
  return {
    prompt: textOf(from["task"], "description"), title: textOf(from, "title"), agent: textOf(from, "agent"), model: textOf(from, "model"),
    mode: textOf(from, "mode") || kEmptyForm.mode, repo: textOf(from["repo"], "url"), ref: textOf(from["repo"], "ref"),
    budget: budget === undefined ? "" : String(budget), also,
  };
}
