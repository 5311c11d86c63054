// The page notifies a person who is needed, also while the tab is hidden.
import type {Page} from "@playwright/test";
import {asks} from "./believable";
import {expect, test} from "./fixture";

// A headless browser shows no notifications, so this records them. The test decides when the tab is hidden.
async function watchNotifications(page: Page, permission: NotificationPermission): Promise<void> {
  await page.addInitScript((given) => {
    const shown: {title: string; body: string | undefined; made: Notification}[] = [];
    class Told {
      static permission = given;
      static requestPermission = () => {
        ++(window as unknown as {asked: number}).asked;
        return Promise.resolve((Told.permission = "granted"));
      };
      onclick: (() => void) | null = null;
      constructor(title: string, options?: NotificationOptions) {
        shown.push({title, body: options?.body, made: this as unknown as Notification});
      }
      close(): void {}
    }
    Object.assign(window, {Notification: Told, shown, hide: false, asked: 0});
    Object.defineProperty(document, "hidden", {get: () => (window as unknown as {hide: boolean}).hide});
  }, permission);
  await page.reload();
  await page.locator(".live-live").waitFor();
}
const told = (page: Page) => page.evaluate(() => (window as unknown as {shown: {title: string; body: string}[]}).shown.map(({title, body}) => ({title, body})));
const asked = (page: Page) => page.evaluate(() => (window as unknown as {asked: number}).asked);
const hide = (page: Page, hidden: boolean) => page.evaluate((value) => {
  (window as unknown as {hide: boolean}).hide = value;
  document.dispatchEvent(new Event("visibilitychange"));
}, hidden);

test("the tab's title and a notification say that a person is needed", async ({server, fleet}) => {
  await watchNotifications(fleet, "granted");
  await server.create({id: "a", prompt: "Publish", title: "Publish it"});
  await server.create({id: "b", prompt: "Delete", title: "Delete it"});
  await expect(fleet).toHaveTitle("Fleet · Shepherd");
  // A person who looks at the page gets no notification.
  await server.post("a", [asks("a1", "git push")]);
  await expect(fleet).toHaveTitle(/^\(1\)/);
  expect(await told(fleet)).toEqual([]);
  await hide(fleet, true);
  await server.post("b", [asks("b1", "rm -r old")]);
  await expect(fleet).toHaveTitle(/^\(2\)/);
  await expect.poll(() => told(fleet)).toEqual([{title: "Delete it needs you", body: "Needs approval: Running rm -r old"}]);
  // A title cannot reverse the text or hide in it either.
  await server.create({id: "e", prompt: "x", title: "Evil \u202eeno\u2066"});
  await server.post("e", [{...asks("e1", "x"), summary: "\u001b]0;x\u0007 run\u200b this"}]);
  await expect.poll(async () => (await told(fleet)).length).toBe(2);
  expect((await told(fleet))[1]).toEqual({title: "Evil \\u202eeno\\u2066 needs you", body: "\\u001b]0;x\\u0007 run\\u200b this"});
  // A reported item is not reported again when something else happens.
  await server.post("a", [{type: "thinking", summary: "hm", data: {kind: "text", text: "hm"}}]);
  await server.create({id: "c", prompt: "Break", title: "Break"});
  await server.status("c", "failed", {message: "broke", details: {error: "it broke"}});
  await expect(fleet).toHaveTitle(/^\(4\)/);
  await expect.poll(async () => (await told(fleet)).length).toBe(3);
  // A click on it opens the task.
  await fleet.evaluate(() => (window as unknown as {shown: {made: Notification}[]}).shown[0]!.made.onclick!(new Event("click")));
  await expect(fleet).toHaveURL(/task=b/);
  await expect(fleet).toHaveTitle(/^\(4\) Delete it · Shepherd/);
});

test("notifications are asked for by a button, never by themselves", async ({server, fleet}) => {
  await watchNotifications(fleet, "default");
  await server.create({id: "a", prompt: "Publish", title: "Publish it"});
  await server.post("a", [asks("a1", "git push")]);
  await expect(fleet.locator(".need")).toHaveCount(1);
  await hide(fleet, true);
  await server.post("a", [asks("a2", "git push --tags")]);
  await expect(fleet).toHaveTitle(/^\(2\)/);
  expect(await told(fleet)).toEqual([]);
  await hide(fleet, false);
  // The page never asks for the permission by itself, in any view.
  await fleet.getByRole("link", {name: "Search"}).click();
  await fleet.getByRole("link", {name: "Fleet 2 need you"}).click();
  expect(await asked(fleet)).toBe(0);
  await fleet.getByRole("button", {name: "Notify me"}).click();
  await expect(fleet.getByRole("button", {name: "Notify me"})).toHaveCount(0);
  expect(await asked(fleet)).toBe(1);
  await hide(fleet, true);
  await server.post("a", [asks("a3", "git gc")]);
  await expect.poll(async () => (await told(fleet)).map((each) => each.body)).toEqual(["Needs approval: Running git gc"]);
});
