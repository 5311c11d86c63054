// Every view, light and dark, wide and narrow: audited by axe, and photographed for docs/screens when SCREENS says
// where to.
import AxeBuilder from "@axe-core/playwright";
import {mkdirSync} from "node:fs";
import {join} from "node:path";
import {believableFleet} from "./believable";
import {expect, test} from "./fixture";

const kViews: Record<string, {path: string; ready: string}> = {
  fleet: {path: "/", ready: ".need"},
  task: {path: "/?task=fix-checkout", ready: ".card.needs-you"},
  replay: {path: "/?task=fix-checkout&at=6", ready: ".step.chosen"},
  metrics: {path: "/?view=metrics", ready: ".u-over"},
  search: {path: "/?view=search&q=discount", ready: ".results li"},
  findings: {path: "/?view=findings", ready: ".results li"},
  new: {path: "/?view=new", ready: "form"},
  empty: {path: "/?text=nothing+like+it", ready: ".notice-title"},
};
const kScreens = process.env["SCREENS"];

for (const scheme of ["light", "dark"] as const) {
  test(`no view has a fault that an audit finds (${scheme})`, async ({server, fleet}) => {
    test.setTimeout(180_000);
    await believableFleet(server);
    await fleet.emulateMedia({colorScheme: scheme, reducedMotion: "reduce"});
    for (const [name, view] of Object.entries(kViews)) {
      await fleet.goto(server.url + view.path);
      await fleet.locator(".live-live").waitFor();
      await fleet.locator(view.ready).first().waitFor();
      const audit = await new AxeBuilder({page: fleet}).analyze();
      expect(audit.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html).slice(0, 3).join(" | ")}`), name).toEqual([]);
      if (!kScreens) continue;
      mkdirSync(kScreens, {recursive: true});
      await fleet.mouse.move(700, 790);
      await fleet.waitForTimeout(700);
      await fleet.screenshot({path: join(kScreens, `${name}-${scheme}.png`)});
    }
  });
}

test("a phone: nothing is wider than the screen, and what needs you comes first", async ({server, fleet}) => {
  test.setTimeout(120_000);
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
  await fleet.goto(server.url + "/?task=fix-checkout");
  await fleet.getByRole("button", {name: "Details"}).click();
  await expect(fleet.locator(".side")).toBeInViewport();
});
