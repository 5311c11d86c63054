// Views across tasks: metrics, search, findings. Each links to the event.
import type {Page} from "@playwright/test";
import {believableFleet, tool} from "./believable";
import {expect, test} from "./fixture";
import type {Json, Server} from "./server";

// The statistics lag behind the store, so wait until they are complete.
async function addedUp(server: Server): Promise<void> {
  await expect.poll(async () => {
    const stats = await server.call("GET", "/api/v1/stats?from=-1h&step=60");
    return Number(stats["indexedThrough"]) === Number(stats["head"]);
  }).toBe(true);
}
// The place on the time axis (0 to 1) with the highest cost, and its time. It moves, because a minute may begin at any
// time.
async function busiest(server: Server): Promise<{place: number; clock: string}> {
  const stats = (await server.call("GET", "/api/v1/stats?from=-1h&step=60")) as unknown as {series: {points: {at: string; costUSD: number}[]}[]};
  const points = stats.series[0]!.points;
  const spent = points.map((point) => point.costUSD);
  const index = spent.indexOf(Math.max(...spent));
  return {place: (index + 0.5) / spent.length, clock: new Date(points[index]!.at).toTimeString().slice(0, 8)};
}
const chart = (page: Page, title: string) => page.locator(".chart-card", {has: page.getByRole("heading", {name: title})});

test("metrics: what the range came to, and a point of a chart leads to its tasks", async ({server, fleet}) => {
  await believableFleet(server);
  await addedUp(server);
  await fleet.goto(server.url + "/?view=metrics&from=-1h");
  await expect(chart(fleet, "Spend").locator(".legend b")).toHaveText("$0.84");
  await expect(chart(fleet, "Tools").locator("tbody tr").first()).toHaveText(/Bash\s*7\s*5\s*4\.\d s\s*1\d s/);
  const over = chart(fleet, "Spend").locator(".u-over");
  await expect(async () => {
    const {place, clock} = await busiest(server);
    const position = {x: (await over.boundingBox())!.width * place, y: 20};
    await over.hover({position});
    await expect(chart(fleet, "Spend").locator("h2 .quiet")).toContainText(clock, {timeout: 2000});
    await over.click({position});
  }).toPass();
  await expect(fleet).toHaveURL(/from=.*to=/);
  await expect(fleet.getByRole("heading", {name: /Tasks with events from/})).toBeVisible();
  await fleet.locator(".range-tasks").getByText("Store money as integers").click();
  await expect(fleet).toHaveURL(/task=migrate-db/);
});

test("metrics that nobody chose a range for show what there is", async ({server, fleet}) => {
  // Without data the view says what to do.
  await fleet.getByRole("link", {name: "Metrics"}).click();
  await expect(fleet).toHaveURL(/from=-24h/);
  await expect(fleet.getByText("Nothing happened in the last 24 hours")).toBeVisible();
  await expect(fleet.locator(".chart-card")).toHaveCount(0);
  await fleet.getByRole("button", {name: "Look at the last 30 days"}).click();
  await expect(fleet.getByText("Nothing happened in the last 30 days")).toBeVisible();
  await expect(fleet.locator(".notice").getByRole("link", {name: "Start a task"})).toHaveAttribute("href", "/?view=new");
  // A few minutes of data fill the chart, and the choice is in the address.
  await believableFleet(server);
  await addedUp(server);
  await fleet.goto(server.url + "/?view=metrics");
  await expect(fleet).toHaveURL(/from=-15m/);
  await expect(fleet.getByLabel("Range")).toHaveValue("-15m");
  await expect(chart(fleet, "Spend").locator(".legend b")).toHaveText("$0.84");
  await expect(fleet.getByRole("slider", {name: /^Spend/})).toHaveAttribute("aria-valuemax", /^1[45]$/);
  // A chosen range stays chosen.
  await fleet.getByLabel("Range").selectOption("-7d");
  await expect(fleet).toHaveURL(/from=-7d/);
  await fleet.reload();
  await expect(fleet.getByLabel("Range")).toHaveValue("-7d");
  await expect(chart(fleet, "Spend").locator(".legend b")).toHaveText("$0.84");
});

test("metrics by keyboard, by agent and by model", async ({server, fleet}) => {
  await believableFleet(server);
  await addedUp(server);
  await fleet.goto(server.url + "/?view=metrics&from=-1h");
  await fleet.getByLabel("By", {exact: true}).selectOption("model");
  await expect(fleet).toHaveURL(/by=model/);
  await expect(chart(fleet, "Spend").locator(".legend")).toContainText("claude-opus-5-5");
  await expect(chart(fleet, "Tokens of all classes")).toBeVisible();
  const spend = fleet.getByRole("slider", {name: /^Spend/});
  await spend.focus();
  // From the newest minute back to the one with the cost; a new minute moves them.
  await expect(async () => {
    await fleet.keyboard.press("End");
    await expect(spend).toHaveAttribute("aria-valuetext", /\d\d:\d\d:00: /, {timeout: 2000});
    for (let step = 0; step < 8 && !/\$0\.42/.test((await spend.getAttribute("aria-valuetext"))!); ++step) await fleet.keyboard.press("ArrowLeft");
    await expect(spend).toHaveAttribute("aria-valuetext", /claude-opus-5-5 \$0\.42/, {timeout: 2000});
    await fleet.keyboard.press("Enter");
  }).toPass();
  await expect(fleet.locator(".range-tasks li")).not.toHaveCount(0);
});

test("search finds a word in its context, and one click is its moment", async ({server, fleet}) => {
  await server.create({id: "t", prompt: "Look", title: "Look around"});
  await server.post("t", [
    {type: "thinking", summary: "first", data: {kind: "text", text: "first"}},
    ...tool("Bash", {command: "grep -r needlework ."}, "haystack.txt: one needlework here", {ms: 3}),
    {type: "thinking", summary: "last", data: {kind: "text", text: "last"}}]);
  await server.post("t", Array.from({length: 120}, (_, i) => ({type: "thinking", summary: `thread ${i}`, data: {kind: "text", text: `thread ${i}`}})));
  await fleet.keyboard.press("g");
  await fleet.keyboard.press("s");
  const field = fleet.getByLabel("Search all logs");
  await expect(field).toBeFocused();
  await expect.poll(async () => ((await server.call("GET", "/api/v1/search?q=thread&limit=200"))["results"] as unknown[]).length).toBe(120);
  await field.fill("needlework");
  await expect(fleet.locator(".results li")).toHaveCount(2);
  await expect(fleet.locator(".results li").first()).toContainText("haystack.txt: one needlework here");
  await expect(fleet.locator(".results mark").first()).toHaveText("needlework");
  await fleet.locator(".results li").last().click();
  await expect(fleet).toHaveURL(/task=t&at=2/);
  await expect(fleet.locator(".step.chosen pre.command")).toHaveText("grep -r needlework .");
  // More than one page of results is available.
  await fleet.goto(server.url + "/?view=search&q=thread");
  await expect(fleet.locator(".results li")).toHaveCount(100);
  await fleet.getByRole("button", {name: "More"}).click();
  await expect(fleet.locator(".results li")).toHaveCount(120);
  await expect(fleet.getByRole("button", {name: "More"})).toHaveCount(0);
  const found = await fleet.locator(".results li a").evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  expect(new Set(found).size, "none of them twice").toBe(120);
  await fleet.goto(server.url + "/?view=search&q=nothinglikeit");
  await expect(fleet.getByText("Nothing found")).toBeVisible();
});

const finding = (severity: string, n: number): Json => ({type: "finding", summary: `${severity} thing ${n}`, data: {severity, category: "style", file: "src/a.ts", line: n}});

test("findings: the worst first, page by page, each one click from its moment", async ({server, fleet}) => {
  await server.create({id: "f", prompt: "Review", title: "Review"});
  await server.post("f", Array.from({length: 130}, (_, n) => finding("low", n)));
  await server.post("f", [finding("critical", 1), finding("unheard-of", 2), finding("high", 3)]);
  const low = fleet.getByRole("region", {name: "low"});
  await expect.poll(async () => {
    await fleet.goto(server.url + "/?view=findings");
    await fleet.locator(".findings .results, .notice-title").first().waitFor();
    return fleet.getByRole("region", {name: "high"}).count();
  }, {intervals: [500]}).toBe(1);
  await expect(fleet.locator(".findings section > h2")).toHaveText([/^critical 1$/, /^high 1$/, /^low 100\+$/, /^other 1/]);
  await low.getByRole("button", {name: "More low"}).click();
  await expect(low.locator("li")).toHaveCount(130);
  await expect(low.getByRole("button")).toHaveCount(0);
  expect(new Set(await low.locator(".finding-what").allTextContents()).size).toBe(130);
  await fleet.getByLabel("Severity").selectOption("critical");
  await expect(fleet).toHaveURL(/severity=critical/);
  await expect(fleet.locator(".results li")).toHaveCount(1);
  await fleet.locator(".results li a").click();
  await expect(fleet).toHaveURL(/task=f&at=131/);
  await expect(fleet.locator(".step.chosen")).toContainText("critical thing 1");
});
