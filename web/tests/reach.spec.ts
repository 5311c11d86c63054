// The page without a mouse and without eyes: where the focus is, what a view is called, keys that are not meant.
import {believableFleet} from "./believable";
import {expect, test} from "./fixture";

test("every view has a title of its own, and takes the focus", async ({server, fleet}) => {
  await believableFleet(server);
  await expect(fleet).toHaveTitle(/Fleet · Shepherd$/);
  const main = fleet.locator("main");
  for (const [name, title] of [["Metrics", "Metrics"], ["Findings", "Findings"], ["Fleet", "Fleet"], ["New task", "New task"]] as const) {
    await fleet.getByRole("banner").getByRole("link", {name, exact: name !== "Fleet"}).last().click();
    await expect(fleet).toHaveTitle(new RegExp(`${title} · Shepherd$`));
    await expect.poll(() => main.evaluate((element) => element.contains(document.activeElement)), name).toBe(true);
  }
  await fleet.goBack();
  await fleet.locator("[data-task=fix-checkout]").click();
  await expect(fleet).toHaveTitle(/· Shepherd$/);
  await expect(main).toBeFocused();
});

test("the first Tab offers to skip the navigation", async ({fleet}) => {
  await fleet.keyboard.press("Tab");
  const skip = fleet.getByRole("link", {name: "Skip to the content"});
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  await fleet.keyboard.press("Enter");
  await expect(fleet.locator("main")).toBeFocused();
  expect(fleet.url()).not.toContain("#");
});

test("the head of the list is there for everyone", async ({server, fleet}) => {
  await believableFleet(server);
  await expect(fleet.locator("[data-task=fix-checkout]")).toBeVisible();
  expect(await fleet.locator(".fleet-list").ariaSnapshot()).toMatch(/doing now/);
});

test("keys can be turned off, and stay off", async ({fleet}) => {
  await fleet.keyboard.press("?");
  const dialog = fleet.getByRole("dialog");
  await expect(dialog.locator("kbd").first()).toBeVisible();
  await dialog.getByLabel("Use these keys").uncheck();
  await dialog.getByRole("button", {name: "Close"}).click();
  await fleet.reload();
  await fleet.locator(".live-live").waitFor();
  await fleet.keyboard.press("g");
  await fleet.keyboard.press("m");
  await fleet.keyboard.press("?");
  await expect(dialog).toHaveCount(0);
  await expect(fleet).not.toHaveURL(/metrics/);
  await fleet.getByRole("button", {name: "Keys"}).click();
  await dialog.getByLabel("Use these keys").check();
  await dialog.getByRole("button", {name: "Close"}).click();
  await fleet.keyboard.press("g");
  await fleet.keyboard.press("m");
  await expect(fleet).toHaveURL(/metrics/);
});
