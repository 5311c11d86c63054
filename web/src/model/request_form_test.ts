import {expect, test} from "vitest";
import {formOf, kEmptyForm, requestOf} from "./request_form";

// An answer of GET /api/v1/tasks/ID, shortened.
const task = {
  id: "task-1", namespace: "default", title: "Mend it", repo: {url: "https://example.com/a.git", ref: "main"}, task: {description: "Mend the test\nand run it"},
  agent: "claude", model: "opus", callbackURL: "", labels: {team: "web"}, mode: "autonomous", budget: 2.5, maxTurns: 5, timeout: 600,
  allowedTools: ["Bash"], status: {state: "failed"}, commands: [], approvals: [],
};

test("the request of a task can be sent again", () => {
  expect(requestOf(formOf(task))).toEqual({
    prompt: "Mend the test\nand run it", title: "Mend it", agent: "claude", model: "opus", mode: "autonomous",
    repo: {url: "https://example.com/a.git", ref: "main"}, budget: 2.5, labels: {team: "web"}, maxTurns: 5, timeout: 600, allowedTools: ["Bash"],
  });
});

test("a task without more than a prompt gives no more", () => {
  const least = {id: "x", title: "", repo: {}, task: {description: "Look"}, agent: "", model: "", labels: {}};
  expect(requestOf(formOf(least))).toEqual({prompt: "Look", mode: "interactive"});
  expect(requestOf({...kEmptyForm, prompt: "Look"})).toEqual({prompt: "Look", agent: "claude", mode: "interactive"});
});
