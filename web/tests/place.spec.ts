// The page keeps the person's place: the chosen task, the visible row, unfinished text.
import type {Page} from "@playwright/test";
import {expect, test} from "./fixture";
import type {Server} from "./server";

async function many(server: Server, from: number, to: number): Promise<void> {
  for (let n = from; n < to; ++n) await server.create({id: `t-${String(n).padStart(3, "0")}`, prompt: "x", title: `Task ${n}`});
}
const topOf = async (page: Page, id: string) => Math.round((await page.locator(`[data-task=${id}]`).boundingBox())!.y);

test("a chosen task stays chosen when another comes in above it", async ({server, fleet}) => {
  await many(server, 0, 5);
  await expect(fleet.locator(".fleet-row[data-task]")).toHaveCount(5);
  await fleet.keyboard.press("j");
  await fleet.keyboard.press("j");
  await expect(fleet.locator(".fleet-row.chosen")).toHaveAttribute("data-task", "t-003");
  await many(server, 5, 7);
  await expect(fleet.locator(".fleet-row[data-task]")).toHaveCount(7);
  await expect(fleet.locator(".fleet-row.chosen")).toHaveAttribute("data-task", "t-003");
  await fleet.keyboard.press("Enter");
  await expect(fleet).toHaveURL(/task=t-003/);
});

test("a scrolled list stays where it is when tasks come in above, and is there again after Back", async ({server, fleet}) => {
  await many(server, 0, 90);
  await expect(fleet.getByText("90 tasks")).toBeVisible();
  await fleet.locator(".fleet-list .virtual").evaluate((list) => { list.scrollTop = 900; });
  const row = fleet.locator("[data-task=t-060]");
  await expect(row).toBeInViewport();
  const before = await topOf(fleet, "t-060");
  await many(server, 90, 95);
  await expect(fleet.getByText("95 tasks")).toBeVisible();
  await expect.poll(() => topOf(fleet, "t-060")).toBe(before);
  await row.click();
  await expect(fleet).toHaveURL(/task=t-060/);
  await fleet.goBack();
  await expect(row).toBeInViewport();
  await expect.poll(() => topOf(fleet, "t-060")).toBe(before);
});

test("what was begun is still there after a look elsewhere", async ({server, fleet}) => {
  await many(server, 0, 1);
  await server.post("t-000", [{type: "thinking", summary: "hm", data: {kind: "text", text: "hm"}}]);  // it takes messages
  await fleet.locator("[data-task=t-000]").click();
  await fleet.getByLabel("Message to the agent").fill("half a sent");
  await fleet.getByRole("link", {name: "New task"}).click();
  await fleet.getByLabel("Prompt", {exact: true}).fill("half a task");
  await fleet.getByRole("link", {name: "Fleet", exact: true}).click();
  await fleet.locator("[data-task=t-000]").click();
  await expect(fleet.getByLabel("Message to the agent")).toHaveValue("half a sent");
  await fleet.getByRole("link", {name: "New task"}).click();
  await expect(fleet.getByLabel("Prompt", {exact: true})).toHaveValue("half a task");
});

const offered = (page: Page) => page.locator("#agents option").evaluateAll((all) => all.map((each) => (each as HTMLOptionElement).value));

test("a new task says where it will work and that no runner is there", async ({server, fleet}) => {
  await server.create({id: "other", prompt: "x", agent: "codex"});
  await fleet.goto(server.url + "/?view=new");
  const where = fleet.locator(".where");
  await expect(where).toContainText("No repository: the agent works in an empty directory.");
  await fleet.getByLabel("Repository").fill("https://git.example/team/shop");
  await expect(where).not.toContainText("No repository");
  await expect(where).toContainText("No runner with an agent is connected: the task waits until one takes it.");
  await fleet.getByLabel("Agent").fill("");
  await expect(where).toContainText("No agent: the task waits for another program to post its events.");
  expect(await offered(fleet)).toEqual(["claude", "codex"]);
});

test.describe("with a runner", () => {
  test.use({runners: 1});
  test("a new task offers the agents that runners have", async ({server, fleet}) => {
    await server.create({id: "other", prompt: "x", agent: "never-installed"});
    await fleet.goto(server.url + "/?view=new");
    const where = fleet.locator(".where");
    await fleet.getByLabel("Repository").fill("https://git.example/team/shop");
    await expect(where).toHaveText("");
    await fleet.getByLabel("Agent").fill("gpt");
    await expect(where).toContainText("No runner that is connected has the agent gpt");
    expect(await offered(fleet)).toContain("claude");
    expect(await offered(fleet)).not.toContain("text");
    expect(await offered(fleet)).not.toContain("never-installed");
  });
  test("a task that no runner takes says so", async ({server, fleet}) => {
    await server.create({id: "t", prompt: "x", title: "For nobody", agent: "gpt"});
    await expect(fleet.locator("[data-task=t] .doing")).toContainText("no connected runner takes agent gpt");
    await fleet.locator("[data-task=t]").click();
    await expect(fleet.locator(".task-head .hold")).toContainText("no connected runner takes agent gpt; known: ");
  });
});

test("starting a task again after a lost answer starts one", async ({server, fleet, expected}) => {
  expected.lost();
  await fleet.goto(server.url + "/?view=new");
  await fleet.getByLabel("Prompt", {exact: true}).fill("Only once");
  await fleet.getByLabel("Agent").fill("of-these-tests");
  await fleet.route("**/api/v1/tasks", async (route) => {
    const request = route.request();
    await fetch(server.url + "/api/v1/tasks", {method: "POST", body: request.postData(), headers: {
      Authorization: `Bearer ${server.token}`, "Content-Type": "application/json", "Idempotency-Key": (await request.headerValue("Idempotency-Key"))!}});
    await route.abort();
  }, {times: 1});
  await fleet.getByRole("button", {name: "Start"}).click();
  await expect(fleet.getByRole("alert")).toContainText("send it again, it is done only once");
  await fleet.getByRole("button", {name: "Start"}).click();
  await expect(fleet).toHaveURL(/task=/);
  expect((await server.call("GET", "/api/v1/tasks") as unknown as unknown[]).length).toBe(1);
});
