import {believableFleet, story} from "./believable";
import {expect, test} from "./fixture";

test("rows come, move and end by themselves", async ({server, fleet}) => {
  await expect(fleet.getByText("No tasks yet")).toBeVisible();
  await server.create({id: "one", prompt: "Count the sheep", title: "Count the sheep"});
  const row = fleet.locator("[data-task=one]");
  await expect(row.locator(".state")).toHaveText("queued");
  await server.post("one", [{type: "tool_call", tool: "Read", summary: "Reading the meadow", input: {}}]);
  await expect(row.locator(".doing")).toHaveText("Reading the meadow");
  await expect(row.locator(".state")).toHaveText("running");
  await expect(row.locator("svg.spark")).toBeVisible();
  await server.post("one", [{type: "usage", summary: "", data: {costUSD: 1.5, inputTokens: 20_000}}]);
  await expect(row.locator(".cost")).toHaveText("$1.50");
  await expect(row.locator(".tokens")).toHaveText("20.0k");
  await server.status("one", "failed", {message: "no sheep", details: {error: "There are no sheep"}});
  await expect(row.locator(".state")).toHaveText("failed");
  await expect(row.locator(".doing")).toHaveText("There are no sheep");
});

test("use without a price is unpriced and not free", async ({server, fleet}) => {
  await server.create({id: "one", prompt: "Count the sheep", agent: "codex"});
  const row = fleet.locator("[data-task=one]");
  await server.post("one", [{type: "usage", summary: "", sessionID: "a", data: {inputTokens: 20_000, unpriced: true}}]);
  await expect(row.locator(".cost")).toHaveText("unpriced");
  await row.click();
  const cost = fleet.locator(".side .facts.numbers div", {hasText: "cost"}).locator("dd");
  await expect(cost).toHaveText("unpriced");
  await server.post("one", [{type: "usage", summary: "", sessionID: "b", data: {costUSD: 0.25, inputTokens: 10, priced: {asOf: "2026-11-01"}}}]);
  await expect(cost).toHaveText("$0.25+");
});

test("filters and groups live in the address", async ({server, fleet}) => {
  await believableFleet(server);
  await expect(fleet.locator(".fleet-row[data-task]")).toHaveCount(6);
  await fleet.getByLabel("Filter tasks").fill("money");
  await expect(fleet.locator(".fleet-row[data-task]")).toHaveCount(1);
  expect(fleet.url()).toContain("text=money");
  await fleet.reload();
  await expect(fleet.locator("[data-task=migrate-db]")).toBeVisible();
  await expect(fleet.locator(".fleet-row[data-task]")).toHaveCount(1);
  await fleet.goto(server.url + "/?state=ended");
  await expect(fleet.locator(".fleet-row[data-task]")).toHaveCount(2);
  await fleet.goto(server.url + "/?group=workflow");
  await expect(fleet.locator(".group")).toHaveText([/^docs 1/, /^nightly-fixes 1/, /^no workflow 4/]);
  await fleet.goto(server.url + "/?text=nothing+has+this");
  await expect(fleet.getByText("No task matches")).toBeVisible();
});

test("by keyboard alone: choose, open, back, help", async ({server, fleet}) => {
  await believableFleet(server);
  await expect(fleet.locator(".fleet-row[data-task]")).toHaveCount(6);
  const rows = await fleet.locator(".fleet-row[data-task]").evaluateAll((each) => each.map((row) => row.getAttribute("data-task")!));
  const chosen = fleet.locator(".fleet-row.chosen");
  for (const [key, row] of [["j", 0], ["j", 1], ["j", 2], ["k", 1]] as const) {
    await fleet.keyboard.press(key);
    await expect(chosen).toHaveCount(1);
    await expect(chosen).toHaveAttribute("data-task", rows[row]!);
  }
  await fleet.keyboard.press("Enter");
  await expect(fleet).toHaveURL(new RegExp(`[?&]task=${rows[1]}(&|$)`));
  await fleet.keyboard.press("g");
  await fleet.keyboard.press("f");
  await expect(fleet.locator(".fleet-row[data-task]")).toHaveCount(6);
  await fleet.keyboard.press("/");
  await expect(fleet.getByLabel("Filter tasks")).toBeFocused();
  await fleet.keyboard.press("Escape");
  await fleet.keyboard.press("?");
  await expect(fleet.getByRole("dialog")).toBeVisible();
  await fleet.keyboard.press("Escape");
  await expect(fleet.getByRole("dialog")).toBeHidden();
});

test("without a session the page says how to get one, and shows nothing", async ({server, page}) => {
  await server.create({id: "secret", prompt: "Secret work"});
  await page.goto(server.url + "/");
  await expect(page.getByText("shepherd token login-link")).toBeVisible();
  await expect(page.getByText("Secret work")).toHaveCount(0);
});

test("light and dark can be chosen, and stay chosen", async ({fleet}) => {
  const ground = () => fleet.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await fleet.emulateMedia({colorScheme: "light"});
  const light = await ground();
  await fleet.getByLabel("Light or dark").click();
  expect(await ground()).not.toBe(light);
  await fleet.reload();
  await fleet.locator(".live-live").waitFor();
  expect(await ground()).not.toBe(light);
  // And the system's choice again.
  await fleet.getByLabel("Light or dark").click();
  await fleet.getByLabel("Light or dark").click();
  await fleet.emulateMedia({colorScheme: "dark"});
  expect(await ground()).not.toBe(light);
  await fleet.emulateMedia({colorScheme: "light"});
  expect(await ground()).toBe(light);
});

test("what a viewer may not do is not offered", async ({server, fleet}) => {
  await server.create({id: "one", prompt: "x", title: "One"});
  await server.post("one", story().slice(0, 4));
  const made = await server.call("POST", "/api/v1/tokens", {name: "looker", scope: "viewer"});
  const link = await fetch(server.url + "/api/v1/login-links", {method: "POST", headers: {Authorization: `Bearer ${String(made["secret"])}`}});
  const {path} = (await link.json()) as {path: string};
  await fleet.context().clearCookies();
  await fleet.goto(server.url + path);
  await fleet.locator("[data-task=one]").click();
  await expect(fleet.getByText("can read, but not steer")).toBeVisible();
  await expect(fleet.getByText("New task")).toHaveCount(0);
  await expect(fleet.getByRole("button", {name: "Stop"})).toHaveCount(0);
});

test("a row has its activity when the page is opened, not only from then on", async ({server, fleet}) => {
  await server.create({id: "one", prompt: "Count the sheep", title: "Count the sheep"});
  await server.post("one", story().slice(0, 6));
  await fleet.reload();
  await expect(fleet.locator("[data-task=one] svg.spark path")).toHaveAttribute("d", /^M/);
});

test("a counter is the number of rows that its link lists", async ({server, fleet}) => {
  for (const id of ["wait", "queue", "queue-2", "run", "start", "fail"]) await server.create({id, prompt: "x", title: id});
  await server.post("wait", [{type: "status", summary: "Which?", data: {state: "waiting_for_input"}}]);
  await server.post("run", [{type: "thinking", summary: "hm", data: {kind: "text", text: "hm"}}]);
  await server.post("start", [{type: "status", summary: "Starting", data: {state: "starting"}}]);
  await server.status("fail", "failed", {message: "broke", details: {error: "it broke"}});
  for (const [name, ids] of [["failed today", ["fail"]], ["running", ["run"]], ["waiting", ["wait"]], ["queued", ["queue", "queue-2"]]] as const) {
    await fleet.goto(server.url + "/");
    const counter = fleet.locator(".counter", {hasText: name});
    await expect(counter.locator(".number")).toHaveText(String(ids.length));
    await counter.click();
    await expect(fleet.locator(".fleet-row[data-task]")).toHaveCount(ids.length);
    for (const id of ids) await expect(fleet.locator(`[data-task=${id}]`)).toBeVisible();
  }
  await fleet.locator(".counter", {hasText: "spent today"}).click();
  await expect(fleet.getByLabel("Range")).toHaveValue("today");
});
