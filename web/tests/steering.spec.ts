// Real runner, scripted agent: commands on the page reach the agent, and the page shows their outcome.
import type {Page} from "@playwright/test";
import {expect, test} from "./fixture";

test.use({runners: 2});

async function start(page: Page, script: object[], mode = "interactive"): Promise<void> {
  await page.getByRole("banner").getByRole("link", {name: "New task"}).click();
  await page.getByLabel("Prompt", {exact: true}).fill(JSON.stringify(script));
  await page.getByLabel("Title").fill("Scripted");
  await page.locator(".new-task select").selectOption(mode);
  await page.getByRole("button", {name: "Start"}).click();
  await expect(page).toHaveURL(/task=task-/);
}
const state = (page: Page) => page.locator(".task-title .state");

test("a task from the page runs; its approval is answered in the log", async ({fleet}) => {
  await start(fleet, [{say: "Hello"}, {tool: "Bash", input: {command: "touch important"}, permission: true, result: "did {input}"}, {say: "All done"}, {wait: "message"}]);
  const ask = fleet.locator(".card.needs-you");
  await expect(ask.locator("pre.command")).toHaveText("touch important");
  await expect(fleet.locator(".needs-line")).toContainText("touch important");
  await ask.getByRole("button", {name: "Change input"}).click();
  await ask.getByLabel("Input as it will run").fill('{"command":"touch harmless"}');
  await ask.getByRole("button", {name: "Approve as changed"}).click();
  await expect(fleet.locator(".story").getByText("All done", {exact: true})).toBeVisible();
  await expect(fleet.locator(".story")).toContainText("touch harmless");
  await fleet.mouse.move(5, 5);
  await expect(fleet.locator(".card.needs-you")).toHaveCount(0);
  await expect(fleet.locator(".side .commands")).toContainText("the agent took it up");
});

test("denied is denied, with a word", async ({fleet}) => {
  await start(fleet, [{tool: "Bash", input: {command: "rm -rf /"}, permission: true, result: "gone"}, {say: "I went on without"}, {wait: "message"}]);
  const ask = fleet.locator(".card.needs-you");
  await ask.getByLabel("Note to the agent").fill("never that");
  await ask.getByRole("button", {name: "Deny"}).click();
  await expect(fleet.locator(".story").getByText("I went on without", {exact: true})).toBeVisible();
  await fleet.mouse.move(5, 5);
  await expect(fleet.locator(".step-tool_call")).toContainText(/asked · denied by \S+: never that/);
  await expect(fleet.locator(".story")).not.toContainText("needs you");
});

test("a question is answered", async ({fleet}) => {
  await start(fleet, [{ask: [{question: "Which colour?", header: "Colour", multiSelect: false, options: [{label: "Red", description: "warm"}, {label: "Blue", description: "cold"}]}]}, {say: "Thanks"}, {wait: "message"}]);
  await fleet.getByLabel("Blue").check();
  await fleet.getByRole("button", {name: "Answer"}).click();
  await expect(fleet.locator(".story")).toContainText('"Which colour?"="Blue"');
});

const kLong = [{say: "Working"}, {repeat: 4000, steps: [{tool: "Bash", input: {command: "true"}, result: "ok"}, {sleep: 150}]}];

test("steer and interrupt: each is followed until it settles", async ({fleet}) => {
  await start(fleet, kLong, "autonomous");
  await expect(fleet.locator(".story").getByText("Working", {exact: true})).toBeVisible();
  await fleet.getByLabel("Message to the agent").fill("Look at the tests first");
  await fleet.getByRole("button", {name: "Steer now"}).click();
  await expect(fleet.locator(".sent")).toContainText("steer: the agent took it up");
  await expect(fleet.locator(".story")).toContainText("I see your message: Look at the tests first");
  await fleet.getByRole("button", {name: "Interrupt"}).click();
  await expect(state(fleet)).toHaveText("interrupted");
});

test("a message for after this turn waits for its end, and is followed until it settles", async ({fleet}) => {
  await start(fleet, [{say: "Working"}, {tool: "Bash", input: {command: "make"}, permission: true, result: "made"}, {say: "The turn is over"}]);
  const ask = fleet.locator(".card.needs-you");
  await expect(ask).toBeVisible();
  const message = fleet.getByLabel("Message to the agent");
  await message.fill("Then write the notes");
  await fleet.getByRole("button", {name: "After this turn"}).click();
  // For an agent whose turn lasts until it is answered: every place shows that the command waits.
  const places = [fleet.locator(".sent"), fleet.locator(".side .commands li", {hasText: "queue"}), fleet.locator(".story .command-row", {hasText: "queue"})];
  for (const place of places) await expect(place).toContainText("given to the agent");
  await expect(message).toHaveValue("");
  await expect(fleet.locator(".story .command-row", {hasText: "queue"})).toContainText("Then write the notes");
  await ask.getByRole("button", {name: "Approve"}).click();
  await expect(fleet.locator(".sent")).toContainText("queue: the agent took it up");
  for (const place of places) await expect(place).toContainText("the agent took it up");
  // The agent took it after the turn, not during it.
  const reply = fleet.locator(".story .step-thinking", {hasText: "Then write the notes"});
  await expect(reply).toBeVisible();
  const number = async (text: string) => Number(await fleet.locator(".story .step-thinking", {hasText: text}).first().getAttribute("data-sequence"));
  expect(await number("Then write the notes")).toBeGreaterThan(await number("The turn is over"));
});

test("a stop ends with its proof, takes no draft with it, and the task can be started again", async ({server, fleet}) => {
  await start(fleet, kLong, "autonomous");
  await expect(fleet.locator(".story").getByText("Working", {exact: true})).toBeVisible();
  await fleet.getByLabel("Message to the agent").fill("half a thought");
  await fleet.getByRole("button", {name: "Stop"}).click();
  await fleet.getByRole("button", {name: "Really stop it"}).click();
  await expect(state(fleet)).toHaveText("cancelled");
  await expect(fleet.locator(".ended summary")).toContainText(/\d+ process(es)? gone/);
  await expect(fleet.getByText("no agent is left to steer")).toBeVisible();
  const id = new URL(fleet.url()).searchParams.get("task")!;
  const sent = (await server.call("GET", `/api/v1/tasks/${id}/events?types=command`))["events"] as {data: Record<string, unknown>}[];
  expect(sent.map((each) => [each.data["kind"], each.data["reason"] ?? ""])).toEqual([["stop", ""]]);
  await fleet.getByRole("link", {name: "Start it again"}).click();
  await expect(fleet.getByLabel("Prompt", {exact: true})).toHaveValue(JSON.stringify(kLong));
  await expect(fleet.getByLabel("Title")).toHaveValue("Scripted");
  await expect(fleet.locator(".new-task select")).toHaveValue("autonomous");
  await fleet.getByRole("button", {name: "Start", exact: true}).click();
  await expect(fleet).toHaveURL(/\?task=task-/);
  expect(new URL(fleet.url()).searchParams.get("task")).not.toBe(id);
});

test("the mode is changed from the page, and the panel knows it", async ({fleet}) => {
  await start(fleet, [{say: "Ready"}, {wait: "message"}, {tool: "Bash", input: {command: "touch it"}, permission: true, result: "touched"}, {say: "Done with it"}, {wait: "message"}]);
  await expect(fleet.locator(".story").getByText("Ready", {exact: true})).toBeVisible();
  await expect(fleet.getByLabel("Mode")).toHaveValue("interactive");
  await fleet.getByLabel("Mode").selectOption("autonomous");
  await expect(fleet.locator(".sent")).toContainText("set mode: the agent took it up");
  await expect(fleet.locator(".story .command-row", {hasText: "set mode"})).toContainText("autonomous");
  // The agent now decides by itself, so it no longer requests approvals.
  await fleet.getByLabel("Message to the agent").fill("go on");
  await fleet.getByRole("button", {name: "Steer now"}).click();
  await expect(fleet.locator(".story").getByText("Done with it", {exact: true})).toBeVisible();
  await fleet.mouse.move(5, 5);
  await expect(fleet.locator(".card.needs-you")).toHaveCount(0);
  await expect(fleet.getByLabel("Mode")).toHaveValue("autonomous");
  await expect(fleet.locator(".side .facts").first()).toContainText("modeautonomous");
  await expect(fleet.locator(".step-tool_call", {hasText: "touch it"})).toContainText("asked · approved");
});

test("approved for always: the same is not asked again", async ({server, fleet}) => {
  const push = {tool: "Bash", input: {command: "git push"}, permission: true, result: "pushed"};
  await start(fleet, [push, {say: "Once"}, push, {say: "Twice"}, {wait: "message"}]);
  const ask = fleet.locator(".card.needs-you");
  await ask.getByLabel(/always for Bash\(/).check();
  await ask.getByRole("button", {name: "Approve"}).click();
  await expect(fleet.locator(".story").getByText("Twice", {exact: true})).toBeVisible();
  await fleet.mouse.move(5, 5);
  const calls = fleet.locator(".step-tool_call", {hasText: "git push"});
  await expect(calls).toHaveCount(2);
  await expect(calls.first()).toContainText(/asked · approved by .* · always for Bash\(git push/);
  await expect(calls.last()).not.toContainText("asked");
  const id = new URL(fleet.url()).searchParams.get("task")!;
  const sent = (await server.call("GET", `/api/v1/tasks/${id}/events?types=command`))["events"] as {data: Record<string, unknown>}[];
  expect(sent.map((each) => each.data["remember"])).toEqual([expect.stringMatching(/^Bash\(git push/)]);
});

test("interrupted and resumed with a word, it goes on", async ({fleet}) => {
  await start(fleet, [{say: "Working"}, {repeat: 4000, steps: [{tool: "Bash", input: {command: "true"}, result: "ok"}, {sleep: 100}]}]);
  await expect(fleet.locator(".story").getByText("Working", {exact: true})).toBeVisible();
  await fleet.getByRole("button", {name: "Interrupt"}).click();
  await expect(fleet.locator(".sent")).toContainText("interrupt: the agent took it up");
  await expect(fleet.getByRole("button", {name: "Resume"})).toBeVisible();
  await expect(fleet.getByRole("button", {name: "Interrupt"})).toHaveCount(0);
  await fleet.getByLabel("Message to the agent").fill("the other way");
  await fleet.getByRole("button", {name: "Resume"}).click();
  await expect(fleet.locator(".sent")).toContainText(/resume: (given to the agent|the agent took it up)/);
  await expect(fleet.locator(".story .command-row", {hasText: "resume"})).toContainText("the other way");
  await expect(fleet.locator(".story").getByText("You said: the other way", {exact: true}).first()).toBeVisible();
});
