import {asks} from "./believable";
import {expect, test} from "./fixture";
import type {Json} from "./server";

test("one approval among a thousand tasks is on the first screen, with its buttons", async ({server, fleet}) => {
  // Older than the newest thousand and ended, so not read at once.
  for (let i = 0; i < 20; ++i) {
    await server.create({id: `old-${i}`, prompt: `Ancient task ${i}`});
    await server.status(`old-${i}`, "completed", {message: "long done"});
  }
  await server.create({id: "old-alive", prompt: "Old but alive"});
  for (let i = 0; i < 1000; i += 50) {
    await Promise.all(Array.from({length: 50}, (_, k) => server.create({id: `t-${i + k}`, prompt: `Task number ${i + k}`})));
  }
  await server.post("t-7", [{type: "thinking", summary: "working", data: {kind: "text", text: "working"}}, asks("a7", "git push --force")]);
  await fleet.reload();
  const approve = fleet.locator(".needs").getByRole("button", {name: "Approve"});
  await expect(approve).toBeInViewport();
  await expect(fleet.locator(".needs").getByText("Task number 7", {exact: true})).toBeInViewport();
  await expect(fleet.locator(".needs pre.command")).toHaveText("git push --force");
  // The page names what is loaded; older tasks can be searched and loaded. Active tasks are loaded whatever their age.
  await expect(fleet.getByText("1001 tasks: the newest and all that are active")).toBeVisible();
  await fleet.getByLabel("Filter tasks").fill("alive");
  await expect(fleet.locator("[data-task=old-alive]")).toBeVisible();
  await fleet.getByLabel("Filter tasks").fill("Ancient task 7");
  await expect(fleet.locator("[data-task=old-7]")).toBeVisible();
  await fleet.getByLabel("Filter tasks").fill("");
  await fleet.getByRole("button", {name: "Load older"}).click();
  await expect(fleet.getByRole("status").getByText("1021 tasks", {exact: true})).toBeVisible();
  await expect(fleet.getByRole("button", {name: "Load older"})).toHaveCount(0);
  await expect(fleet).toHaveTitle(/^\(1\)/);
  // A thousand rows, of which only the visible ones exist (scale.spec.ts scrolls through them).
  expect(await fleet.locator(".fleet-row[data-task]").count()).toBeLessThan(80);
});

test("an approval is answered where it is shown, with the input as it was changed", async ({server, fleet}) => {
  await server.create({id: "t", prompt: "Publish", title: "Publish"});
  await server.post("t", [asks("a1", "git push")]);
  await fleet.reload();
  const need = fleet.locator(".need").first();
  await need.getByRole("button", {name: "Change input"}).click();
  await need.getByLabel("Input as it will run").fill('{"command":"git push --dry-run"}');
  await need.getByLabel("Note to the agent").fill("carefully");
  await need.getByRole("button", {name: "Approve as changed"}).click();
  await expect(need.getByRole("status")).toContainText("refused: no runner has this task now");
  const log = await server.call("GET", "/api/v1/tasks/t/events?types=command");
  const command = (log["events"] as {data: Record<string, unknown>}[])[0]!.data;
  expect(command).toMatchObject({kind: "approve", approvalID: "a1", input: {command: "git push --dry-run"}, message: "carefully"});
});

test("broken input is not sent", async ({server, fleet}) => {
  await server.create({id: "t", prompt: "Publish", title: "Publish"});
  await server.post("t", [asks("a1", "git push")]);
  await fleet.reload();
  const need = fleet.locator(".need").first();
  await need.getByRole("button", {name: "Change input"}).click();
  await need.getByLabel("Input as it will run").fill("{command");
  await need.getByRole("button", {name: "Approve as changed"}).click();
  await expect(need.getByRole("status")).toContainText("not a JSON object");
  expect(((await server.call("GET", "/api/v1/tasks/t/events?types=command"))["events"] as unknown[]).length).toBe(0);
});

test("the failed and the waiting have their own way out", async ({server, fleet}) => {
  await server.create({id: "w", prompt: "Ask me", title: "Ask me"});
  await server.post("w", [{type: "status", summary: "Which currency?", data: {state: "waiting_for_input"}}]);
  await server.create({id: "f", prompt: "Break", title: "Break"});
  await server.status("f", "failed", {message: "broke", details: {error: "it broke"}});
  await fleet.reload();
  await expect(fleet.locator(".need")).toHaveCount(2);
  await expect(fleet.locator(".need").nth(0)).toContainText("Which currency?");
  await expect(fleet.locator(".need").nth(0).getByRole("button", {name: "Send"})).toBeVisible();
  await fleet.locator(".need").nth(1).getByRole("button", {name: "Dismiss"}).click();
  await expect(fleet.locator(".need").nth(1)).toContainText("Dismissed ✓ by you");
  await fleet.mouse.move(5, 5);
  await expect(fleet.locator(".need")).toHaveCount(1);
  await expect(fleet).toHaveTitle(/^\(1\)/);
  await server.create({id: "g", prompt: "Break too", title: "Break too"});
  await server.status("g", "failed", {message: "broke", details: {error: "it broke, too"}});
  // Inbox updates arrive live.
  await fleet.locator(".need", {hasText: "it broke, too"}).getByRole("link", {name: "Look"}).click();
  await expect(fleet).toHaveURL(/task=g/);
});

test("an approval is answered by keyboard alone", async ({server, fleet}) => {
  await server.create({id: "t", prompt: "Publish", title: "Publish"});
  await server.post("t", [asks("a1", "git push")]);
  const approve = fleet.locator(".need").getByRole("button", {name: "Approve"});
  await expect(approve).toBeVisible();
  for (let press = 0; press < 30 && !(await approve.evaluate((button) => button === document.activeElement)); ++press) await fleet.keyboard.press("Tab");
  await expect(approve).toBeFocused();
  await fleet.keyboard.press("Enter");
  await expect(fleet.locator(".need").getByRole("status")).toContainText("Approved:");
});

test("more than three needs: the others are one line each, and open", async ({server, fleet}) => {
  for (let n = 0; n < 5; ++n) {
    await server.create({id: `t${n}`, prompt: `Publish ${n}`, title: `Publish ${n}`});
    await server.post(`t${n}`, [asks(`a${n}`, `git push ${n}`)]);
  }
  await expect(fleet.locator(".need")).toHaveCount(5);
  await expect(fleet.locator(".need pre.command")).toHaveCount(3);
  await fleet.locator(".need").last().getByRole("button", {name: "open"}).click();
  await expect(fleet.locator(".need pre.command").last()).toHaveText("git push 4");
  // The fleet stays visible, whatever needs a person.
  await expect(fleet.locator(".fleet-row[data-task]").first()).toBeInViewport();
});

const asksWhich: Json = {type: "approval", tool: "AskUserQuestion", summary: "Which colour?", data: {approvalID: "q1", state: "pending", kind: "question", tool: "AskUserQuestion",
  input: {questions: [{question: "Which colour?", header: "Colour", multiSelect: false, options: [{label: "Red"}, {label: "Blue"}]}]}}};
const thinks: Json = {type: "thinking", summary: "deep in thought", data: {kind: "text", text: "deep in thought"}};

test.describe("each kind of need has its action on the first screen", () => {
  test.use({setting: "inbox.stalled_seconds=1"});
  for (const {kind, events, word, does} of [
    {kind: "approval", events: [asks("a1", "git push")], word: "approval", does: ["Approve", "Deny", "Change input"]},
    {kind: "question", events: [asksWhich], word: "question", does: ["Answer"]},
    {kind: "waiting", events: [{type: "status", summary: "Which currency?", data: {state: "waiting_for_input"}}], word: "waiting for input", does: ["Send"]},
    {kind: "stalled", events: [thinks], word: "stalled", does: ["Send", "Dismiss"]},
    {kind: "failed", events: [], word: "failed", does: ["Dismiss"]},
  ]) {
    test(kind, async ({server, fleet}) => {
      // More tasks than a screen holds, all of them newer.
      await server.create({id: "t", prompt: "x", title: "The one"});
      for (let n = 0; n < 60; ++n) await server.create({id: `other-${n}`, prompt: "x", title: `Other ${n}`});
      if (events.length > 0) await server.post("t", events);
      else await server.status("t", "failed", {message: "broke", details: {error: "it broke"}});
      const need = fleet.locator(".need");
      await expect(need).toHaveCount(1);
      await expect(need.locator(".need-kind")).toHaveText(word);
      await expect(need.getByRole("link", {name: "The one"})).toBeInViewport({ratio: 1});
      for (const name of does) await expect(need.getByRole("button", {name, exact: true}), name).toBeInViewport({ratio: 1});
      const command = async () => ((await server.call("GET", "/api/v1/tasks/t/events?types=command"))["events"] as {data: Json}[]).map((each) => each.data);
      // The action works.
      if (kind === "question") {
        await need.getByLabel("Blue").check();
        await need.getByRole("button", {name: "Answer"}).click();
        await expect.poll(command).toMatchObject([{kind: "answer", approvalID: "q1", answers: {"Which colour?": "Blue"}}]);
      } else if (kind === "approval") {
        await need.getByRole("button", {name: "Deny"}).click();
        await expect.poll(command).toMatchObject([{kind: "deny", approvalID: "a1"}]);
      } else if (kind === "waiting") {
        await need.getByLabel("Message to The one").fill("Euro");
        await need.getByRole("button", {name: "Send"}).click();
        await expect.poll(command).toMatchObject([{kind: "steer", content: "Euro"}]);
      } else {
        await need.getByRole("button", {name: "Dismiss"}).click();
        await expect(need.getByRole("status")).toHaveText("Dismissed ✓ by you");
        await fleet.mouse.move(5, 5);
        await expect(need).toHaveCount(0);
      }
    });
  }
});
