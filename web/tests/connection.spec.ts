import {expect, test} from "./fixture";

const kSilenceMs = 20_000;  // docs/dashboard.md
const thought = (n: number) => ({type: "thinking", summary: `thought ${n}`, data: {kind: "text", text: `thought ${n}`}});

test("kill -9 of the server: said at once, everything there once after it is back", async ({server, fleet}) => {
  await server.create({id: "t", prompt: "Think", title: "Think"});
  await server.post("t", [1, 2, 3].map(thought));
  await fleet.locator("[data-task=t]").click();
  await expect(fleet.locator(".story").getByText("thought 3", {exact: true})).toBeVisible();
  await server.end("SIGKILL");
  await expect(fleet.locator(".live-lost")).toContainText("disconnected since");
  await expect(fleet.locator(".stale-line")).toContainText("how it stood at");
  await server.start();
  await server.post("t", [4, 5, 6].map(thought));
  await expect(fleet.locator(".live-live")).toBeVisible();
  await expect(fleet.locator(".stale-line")).toHaveCount(0);
  await expect(fleet.locator(".story").getByText("thought 6", {exact: true})).toBeVisible();
  await server.post("t", [thought(7)]);
  await expect(fleet.locator(".story").getByText("thought 7", {exact: true})).toBeVisible();
  const seen = await fleet.locator(".step-thinking").evaluateAll((steps) => steps.map((step) => step.getAttribute("data-sequence")));
  expect(seen).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
});

test("the fleet, too, comes back by itself", async ({server, fleet}) => {
  await server.create({id: "t", prompt: "Think", title: "Think"});
  await expect(fleet.locator("[data-task=t]")).toBeVisible();
  await server.end("SIGKILL");
  await expect(fleet.locator(".stale-line")).toBeVisible();
  // It is unknown whether the task continues, so its clock stops.
  const elapsed = await fleet.locator("[data-task=t] .elapsed").textContent();
  await fleet.waitForFunction((from) => performance.now() - from > 2500, await fleet.evaluate(() => performance.now()));
  expect(await fleet.locator("[data-task=t] .elapsed").textContent()).toBe(elapsed);
  await server.start();
  await server.post("t", [thought(1)]);
  await server.create({id: "u", prompt: "New", title: "Made meanwhile"});
  await expect(fleet.locator("[data-task=u]")).toBeVisible();
  await expect(fleet.locator("[data-task=t] .doing")).toHaveText("thought 1");
});

test("a network that goes silent without a word is noticed within 20 seconds", async ({server, fleet, expected}) => {
  await server.create({id: "t", prompt: "Think", title: "Think"});
  expected.lost();
  const begun = Date.now();
  await fleet.context().setOffline(true);
  await expect(fleet.locator(".live-lost")).toBeVisible({timeout: kSilenceMs});
  console.log(`noticed after ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  await fleet.context().setOffline(false);
  await expect(fleet.locator(".live-live")).toBeVisible();
  await expect(fleet.locator("[data-task=t]")).toBeVisible();
});

test("a revoked session is said, and not tried again", async ({server, fleet, expected}) => {
  expected.answer(401, /^\/api\/v1\//);
  // Only the stream reports it: a 401 to the page's own requests would lead to the login at once.
  await fleet.route("**/api/v1/**", () => {});
  const tokens = (await server.call("GET", "/api/v1/tokens")) as unknown as {tokens?: {id: string; session: boolean}[]} | {id: string; session: boolean}[];
  const list = Array.isArray(tokens) ? tokens : tokens.tokens ?? [];
  for (const token of list.filter((each) => each.session)) await server.call("DELETE", `/api/v1/tokens/${token.id}`);
  await expect(fleet.locator(".live-lost")).toContainText("revoked");
  await fleet.unrouteAll({behavior: "ignoreErrors"});
  await fleet.reload();
  await expect(fleet.getByText("You are not logged in here.")).toBeVisible();
});
