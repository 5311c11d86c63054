// Every view, light and dark, wide and narrow: audited by axe and, if SCREENS is set, photographed for docs/screens.
import AxeBuilder from "@axe-core/playwright";
import {mkdirSync} from "node:fs";
import {join} from "node:path";
import type {Page} from "@playwright/test";
import {believableFleet} from "./believable";
import {expect, test} from "./fixture";

// axe brings the types of a later Playwright; it calls only functions that both have.
type AuditedPage = ConstructorParameters<typeof AxeBuilder>[0]["page"];
const auditorOf = (page: Page): AxeBuilder => new AxeBuilder({page: page as unknown as AuditedPage}).options({rules: {"target-size": {enabled: true}}});

// Texts that are smaller than people can read.
const smallTexts = (page: Page) => page.evaluate(() => [...document.querySelectorAll("body *")]
  .filter((each) => [...each.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent!.trim() !== "") && parseFloat(getComputedStyle(each).fontSize) < 12)
  .map((each) => `${each.className}: ${each.textContent!.slice(0, 40)}`));

interface View {
  path: string;
  ready: string;
  before?: (page: Page) => Promise<void>;
}
const kViews: Record<string, View> = {
  fleet: {path: "/", ready: ".need"},
  task: {path: "/?task=fix-checkout", ready: ".card.needs-you"},
  replay: {path: "/?task=fix-checkout&at=6", ready: ".step.chosen"},
  metrics: {path: "/?view=metrics", ready: ".u-over"},
  search: {path: "/?view=search&q=discount", ready: ".results li"},
  findings: {path: "/?view=findings", ready: ".results li"},
  new: {path: "/?view=new", ready: "form"},
  empty: {path: "/?text=nothing+like+it", ready: ".notice-title"},
  groups: {path: "/?group=workflow", ready: ".group"},
  ended: {path: "/?task=flaky-e2e", ready: ".card.failed"},
  models: {path: "/?view=metrics&from=-1h&by=model", ready: ".u-over"},
  range: {path: "/?view=search&from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z", ready: ".range-tasks li"},
  nothing: {path: "/?view=search&q=nothinglikeit", ready: ".notice-title"},
  unknown: {path: "/?task=no-such-task", ready: ".notice-title"},
  keys: {path: "/?task=fix-checkout", ready: ".card.needs-you", before: (page) => page.keyboard.press("?")},
  changing: {path: "/", ready: ".need", before: (page) => page.getByRole("button", {name: "Change input"}).first().click()},
};
const kKept = ["fleet", "task", "replay", "metrics", "search", "findings", "new"];
const kScreens = process.env["SCREENS"];

const kUnknown = /^\/api\/v1\/.*no-such-task/;

for (const scheme of ["light", "dark"] as const) {
  test(`no view has a fault that an audit finds (${scheme})`, async ({server, fleet, expected}) => {
    expected.answer(404, kUnknown);
    expected.answer(401, /^\/api\/v1\/whoami$/);
    test.setTimeout(400_000);
    await believableFleet(server);
    await fleet.emulateMedia({colorScheme: scheme, reducedMotion: "reduce"});
    for (const [name, view] of Object.entries(kViews)) {
      await fleet.goto(server.url + view.path);
      await fleet.locator(".live-live").waitFor();
      await fleet.locator(view.ready).first().waitFor();
      await view.before?.(fleet);
      await expect.poll(() => fleet.evaluate(() => document.getAnimations().length), `${name} moves by itself`).toBe(0);
      const audit = await auditorOf(fleet).analyze();
      expect(audit.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html).slice(0, 3).join(" | ")}`), name).toEqual([]);
      expect(await smallTexts(fleet), name).toEqual([]);
      if (!kScreens || !kKept.includes(name)) continue;
      mkdirSync(kScreens, {recursive: true});
      await fleet.mouse.move(700, 790);
      await fleet.waitForTimeout(700);
      await fleet.screenshot({path: join(kScreens, `${name}-${scheme}.png`)});
    }
    // Without its server, and without a session.
    await fleet.goto(server.url + "/");
    await fleet.locator(".need").first().waitFor();
    await server.end("SIGKILL");
    await fleet.locator(".live-lost").waitFor();
    const faults = async () => (await auditorOf(fleet).analyze()).violations.map((each) => each.id);
    expect(await faults(), "disconnected").toEqual([]);
    await server.start();
    await fleet.context().clearCookies();
    await fleet.goto(server.url + "/");
    await fleet.locator(".login").waitFor();
    expect(await faults(), "login").toEqual([]);
  });
}

test("a phone: nothing is wider than the screen, and what needs you comes first", async ({server, fleet, expected}) => {
  expected.answer(404, kUnknown);
  await believableFleet(server);
  await fleet.setViewportSize({width: 390, height: 844});
  for (const [name, view] of Object.entries(kViews)) {
    await fleet.goto(server.url + view.path);
    await fleet.locator(view.ready).first().waitFor();
    const over = await fleet.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(over, name).toBeLessThanOrEqual(0);
    if (!kScreens || !["fleet", "task"].includes(name)) continue;
    await fleet.waitForTimeout(700);
    await fleet.screenshot({path: join(kScreens, `${name}-phone.png`)});
  }
  await fleet.goto(server.url + "/");
  await expect(fleet.getByRole("button", {name: "Approve"}).first()).toBeInViewport();
  await expect(fleet.getByRole("button", {name: "Log out"})).toBeInViewport();
  await fleet.goto(server.url + "/?task=fix-checkout");
  await fleet.getByRole("button", {name: "Details"}).click();
  await expect(fleet.locator(".side")).toBeInViewport();
});
