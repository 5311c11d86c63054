// Events of any shape and faulty servers: the page stays alive and quick and retries seldom.
import type {Page} from "@playwright/test";
import {asks, story, tool} from "./believable";
import {expect, test} from "./fixture";
import {within} from "./measure";
import type {Json} from "./server";

const kTypes = ["session_start", "thinking", "output", "tool_call", "tool_result", "error", "finding", "usage", "status", "approval", "log", "result", "command_result", "message", "eviction", "of_no_known_type"];
const kNames = ["text", "content", "kind", "role", "code", "severity", "category", "costUSD", "model", "cwd", "state", "message", "error", "prURL", "branch", "files", "filesChanged", "insertions",
  "ended", "left", "stoppedBy", "approvalID", "tool", "input", "remember", "expiresAt", "line", "capabilities", "id", "reason", "details"];
const kTools = ["Bash", "Edit", "MultiEdit", "Write", "Read", "Grep", "AskUserQuestion", "TodoWrite", "ExitPlanMode", "Other"];
const kMembers = ["command", "description", "file_path", "old_string", "new_string", "content", "edits", "pattern", "path", "questions", "todos", "plan", "offset", "limit", "oldLength", "newLength"];
const kBad: unknown[] = [null, 7, true, "", [], [null], [1], [[]], [{}], [null, {question: null, options: [null, 1, {}]}], {}, {deep: {er: [null]}}];

const all = (names: string[], value: unknown): Json => Object.fromEntries(names.map((name) => [name, value]));

test("no shape of an event breaks the page", async ({server, fleet}) => {
  await server.create({id: "odd", prompt: "x", title: "Odd one"});
  let made = 0;
  for (const bad of kBad) {
    const events = [
      ...kTypes.map((type) => ({type, summary: `a ${type}`, data: all(kNames, bad)})),
      ...kTools.flatMap((name) => {
        const callID = `odd-${++made}`;
        return [{type: "tool_call", tool: name, callID, summary: `Using ${name}`, input: all(kMembers, bad), detail: {input: bad, output: bad, text: bad}},
          {type: "tool_result", tool: name, callID, summary: "done", output: {...(typeof bad === "boolean" ? {success: bad} : {}), summary: typeof bad === "string" ? bad : "… (truncated)", denied: bad}, detail: {output: bad, text: bad}},
          {type: "approval", tool: name, summary: `May it use ${name}?`, data: {...all(kNames, bad), approvalID: `ask-${made}`, state: "pending", kind: made % 3 ? "permission" : "question", input: all(kMembers, bad), remember: bad}}];
      }),
    ];
    await server.post("odd", events);
  }
  const last = Number((await server.call("GET", "/api/v1/tasks/odd"))["lastSequence"]);
  for (let at = 1; at <= last; at += 8) {
    await fleet.evaluate((to) => { history.pushState(null, "", to); dispatchEvent(new PopStateEvent("popstate")); }, `/?task=odd&at=${at}`);
    await expect(fleet.locator(".bar-count")).toHaveText(`${at} of ${last}`);
    await expect(fleet.locator(".step:not(.unread)").first()).toBeAttached();
    expect(await fleet.locator(".unshown").allInnerTexts(), `around event ${at}`).toEqual([]);
  }
  await fleet.goto(server.url + "/");
  await expect(fleet.locator(".need").nth(2)).toBeVisible();
  expect(await fleet.locator(".unshown").count()).toBe(0);
  await expect(fleet.locator("[data-task=odd]")).toBeVisible();
});

test("what cannot be shown says so, and the rest goes on", async ({server, fleet}) => {
  for (const id of ["good", "bad"]) {
    await server.create({id, prompt: "x", title: `The ${id} one`});
    await server.post(id, [asks(`a-${id}`, `git push ${id}`)]);
  }
  // A faulty server: the page validates agents' JSON but trusts its server.
  await fleet.route("**/api/v1/inbox", async (route) => {
    const inbox = await server.call("GET", "/api/v1/inbox") as {items: Json[]};
    for (const item of inbox.items) if (item["taskID"] === "bad") item["summary"] = {not: "a text"};
    await route.fulfill({json: inbox});
  });
  await fleet.goto(server.url + "/");
  await expect(fleet.locator(".needs .unshown")).toContainText("This need could not be shown.");
  await fleet.locator(".needs .unshown summary").click();
  await expect(fleet.locator(".needs .unshown pre")).toContainText('"not": "a text"');
  await expect(fleet.locator(".need", {hasText: "The good one"}).getByRole("button", {name: "Approve"})).toBeEnabled();
  await expect(fleet.locator("[data-task=bad]")).toBeVisible();
});

test("a view that cannot be shown leaves the way to the others", async ({server, fleet}) => {
  await server.create({id: "t", prompt: "x", title: "T"});
  await fleet.route("**/api/v1/stats*", (route) => route.fulfill({json: {series: "none", totals: null}}));
  await fleet.getByRole("link", {name: "Metrics"}).click();
  await expect(fleet.locator(".unshown")).toContainText("This view could not be shown.");
  await fleet.getByRole("link", {name: "Fleet", exact: true}).click();
  await expect(fleet.locator("[data-task=t]")).toBeVisible();
});

// The longest time in which the page could not react.
async function longestPause(page: Page, act: () => Promise<unknown>): Promise<number> {
  await page.evaluate(() => {
    const world = window as unknown as {longest: number; watch?: PerformanceObserver};
    world.longest = 0;
    world.watch?.disconnect();
    world.watch = new PerformanceObserver((list) => { for (const entry of list.getEntries()) world.longest = Math.max(world.longest, entry.duration); });
    world.watch.observe({type: "longtask"});
  });
  await act();
  return page.evaluate(() => new Promise<number>((resolve) => requestAnimationFrame(() => setTimeout(() => resolve((window as unknown as {longest: number}).longest), 50))));
}
const go = (page: Page, to: string) => page.evaluate((place) => { history.pushState(null, "", place); dispatchEvent(new PopStateEvent("popstate")); }, to);

for (const [what, text] of [["one line of 200 KB", "x".repeat(200_000)], ["100,000 lines", "\n".repeat(100_000) + "end"], ["200 KB of invisible characters", "a\u200b".repeat(60_000)]] as const) {
  test(`${what} does not hold up the page`, async ({server, fleet}) => {
    await server.create({id: "long", prompt: "x", title: "Long"});
    const short = text.slice(0, 60_000);
    await server.post("long", [{type: "thinking", summary: "long", data: {kind: "text", text}}]);
    await server.post("long", [{type: "log", summary: "long", data: {line: text}}]);
    await server.post("long", tool("Bash", {command: text}, text));
    await server.post("long", tool("Write", {file_path: "/x", content: text}, "ok"));
    await server.post("long", [{type: "approval", tool: "Bash", summary: "long", data: {approvalID: "a1", state: "pending", kind: "permission", input: {command: short, other: short}}}]);
    await within(`${what}, in the task`, 300, async () => {
      await go(fleet, "/");
      await fleet.locator(".need pre.command").waitFor();
      return longestPause(fleet, async () => {
        await go(fleet, "/?task=long");
        await fleet.locator(".card.needs-you pre.command").waitFor();
        await go(fleet, "/?task=long&at=1");
        await fleet.locator(".step-thinking .clipped").waitFor();
      });
    });
    await within(`${what}, in the fleet`, 300, async () => {
      await go(fleet, "/?view=findings");
      return longestPause(fleet, async () => {
        await go(fleet, "/");
        await fleet.locator(".need pre.command").waitFor();
      });
    });
  });
}

for (const status of [503, 429, 401]) {
  test(`a server that answers ${status} is asked less than once a second by each part of the page`, async ({server, fleet, expected}) => {
    expected.answer(status, /^\/api\/v1\//);
    await server.create({id: "t", prompt: "x", title: "T"});
    await server.post("t", [...story(), asks("a1", "git push")]);
    await fleet.goto(server.url + "/?task=t");
    await fleet.locator(".step").first().waitFor();
    const asked = new Map<string, number>();
    await fleet.route("**/api/v1/**", (route) => {
      const path = new URL(route.request().url()).pathname.replace(/\d+/g, "N");
      asked.set(path, (asked.get(path) ?? 0) + 1);
      return route.fulfill({status, headers: {"Retry-After": "1"}, json: {code: "no", detail: "No."}});
    });
    const kSeconds = 12;
    // Work continues meanwhile, and the person navigates.
    for (let n = 0; n < kSeconds; ++n) {
      if (n % 3 === 0) await server.post("t", [...tool("Edit", {file_path: "/x", oldLength: 1, newLength: 2}, "ok"), asks(`b${n}`, "git push again")]);
      if (n === 4) await go(fleet, "/");
      if (n === 8) await go(fleet, "/?task=t");
      await fleet.waitForTimeout(1000);
    }
    for (const [path, times] of asked) expect(times, path).toBeLessThan(kSeconds);
    if (status === 401) await expect(fleet.getByText("You are not logged in here.")).toBeVisible();
  });
}

test("a session that ended while nobody was connected leads to the login", async ({server, fleet, context, expected}) => {
  expected.answer(401, /^\/api\/v1\//);
  await server.end();
  await expect(fleet.locator(".live-lost")).toBeVisible();
  await context.clearCookies();
  await server.start();
  await expect(fleet.getByText("You are not logged in here.")).toBeVisible();
  await expect(fleet.getByRole("link", {name: "paste it"})).toHaveAttribute("href", "/login");
});
