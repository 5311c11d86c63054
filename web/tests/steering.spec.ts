// Real runner, scripted agent: what is asked on the page happens in the agent, and what becomes of it is shown.
import type {Page} from "@playwright/test";
import {expect, test} from "./fixture";

test.use({runners: 2});

async function start(page: Page, script: object[], mode = "interactive"): Promise<void> {
  await page.getByRole("banner").getByRole("link", {name: "New task"}).click();
  await page.getByLabel("What is to be done").fill(JSON.stringify(script));
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
  await expect(fleet.locator(".card.needs-you")).toHaveCount(0);
  await expect(fleet.locator(".side .commands")).toContainText("the agent took it up");
});

test("denied is denied, with a word", async ({fleet}) => {
  await start(fleet, [{tool: "Bash", input: {command: "rm -rf /"}, permission: true, result: "gone"}, {say: "I went on without"}, {wait: "message"}]);
  const ask = fleet.locator(".card.needs-you");
  await ask.getByLabel("A word to the agent").fill("never that");
  await ask.getByRole("button", {name: "Deny"}).click();
  await expect(fleet.locator(".story").getByText("I went on without", {exact: true})).toBeVisible();
  await expect(fleet.locator(".story")).toContainText("denied by");
});

test("a question is answered", async ({fleet}) => {
  await start(fleet, [{ask: [{question: "Which colour?", header: "Colour", multiSelect: false, options: [{label: "Red", description: "warm"}, {label: "Blue", description: "cold"}]}]}, {say: "Thanks"}, {wait: "message"}]);
  await fleet.getByLabel("Blue").check();
  await fleet.getByRole("button", {name: "Answer"}).click();
  await expect(fleet.locator(".story")).toContainText('"Which colour?"="Blue"');
});

const kLong = [{say: "Working"}, {repeat: 400, steps: [{tool: "Bash", input: {command: "true"}, result: "ok"}, {sleep: 150}]}];

test("steer, interrupt, resume: each is followed until it settles", async ({fleet}) => {
  await start(fleet, kLong, "autonomous");
  await expect(fleet.locator(".story").getByText("Working", {exact: true})).toBeVisible();
  await fleet.getByLabel("Message to the agent").fill("Look at the tests first");
  await fleet.getByRole("button", {name: "Steer now"}).click();
  await expect(fleet.locator(".sent")).toContainText("steer: the agent took it up");
  await expect(fleet.locator(".story")).toContainText("I see your message: Look at the tests first");
  await fleet.getByRole("button", {name: "Interrupt"}).click();
  await expect(state(fleet)).toHaveText("interrupted");
  await fleet.getByRole("button", {name: "Resume"}).click();
  // A runner ends an agent whose turn is over; what came too late for it says so.
  await expect(fleet.locator(".sent")).toContainText(/resume: (given to the agent|the agent took it up|refused: the task had ended)/);
});

test("a stop ends with its proof", async ({fleet}) => {
  await start(fleet, kLong, "autonomous");
  await expect(fleet.locator(".story").getByText("Working", {exact: true})).toBeVisible();
  await fleet.getByRole("button", {name: "Stop"}).click();
  await fleet.getByRole("button", {name: "Really stop it"}).click();
  await expect(state(fleet)).toHaveText("cancelled", {timeout: 30_000});
  await expect(fleet.locator(".ended summary")).toContainText(/\d+ process(es)? gone/);
  await expect(fleet.getByText("there is nobody to steer")).toBeVisible();
});

test("what an agent cannot do is not offered", async ({server, fleet}) => {
  await server.create({id: "plain", prompt: "x", title: "Plain"});
  await server.post("plain", [{type: "status", summary: "Running", data: {state: "running", capabilities: {commands: ["stop"], acknowledges: [], approvals: false}}}]);
  await fleet.goto(server.url + "/?task=plain");
  await expect(fleet.getByRole("button", {name: "Stop"})).toBeVisible();
  for (const name of ["Steer now", "After this turn", "Interrupt"]) await expect(fleet.getByRole("button", {name})).toHaveCount(0);
  await expect(fleet.getByLabel("Mode")).toHaveCount(0);
});

test("a command that nobody can take is refused, and says why", async ({server, fleet}) => {
  await server.create({id: "alone", prompt: "x", title: "Alone"});
  await server.post("alone", [{type: "thinking", summary: "hm", data: {kind: "text", text: "hm"}}]);
  await fleet.goto(server.url + "/?task=alone");
  await fleet.getByLabel("Message to the agent").fill("hello?");
  await fleet.getByLabel("Message to the agent").press("Enter");
  await expect(fleet.locator(".sent")).toContainText("refused: nobody runs this task now");
});
