// Tests with their own server and a logged-in page. A request of the page to any other host, or an unexpected error on
// its console, fails the test.
import {test as base, type Page} from "@playwright/test";
import {existsSync} from "node:fs";
import {join} from "node:path";
import {Expected} from "./expected";
import {Server} from "./server";

// For work on the page: serves its files from vite's build instead of the binary, which would need linking.
const kPageFrom = process.env["PAGE_DIST"];

export const test = base.extend<{server: Server; runners: number; setting: string; expected: Expected; fleet: Page}>({
  runners: [0, {option: true}],
  setting: ["", {option: true}],  // key=value, of the server's configuration
  server: async ({runners, setting}, use) => {
    const server = await new Server(runners, setting ? [setting] : []).start();
    await use(server);
    await server.remove();
  },
  expected: async ({server}, use) => use(new Expected(server)),
  fleet: async ({server, page, expected}, use) => {
    const wrong: string[] = [];
    page.on("pageerror", (error) => wrong.push(`page error: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" && !expected.covers(message.text(), message.location().url)) wrong.push(`${message.text()} (${message.location().url})`);
    });
    page.on("request", (request) => {
      const own = [server.url, server.page].flatMap((each) => [each, each.replace("http", "ws")]);
      if (!own.some((each) => request.url().startsWith(each))) wrong.push(`a third party was asked: ${request.url()}`);
    });
    if (kPageFrom) {
      await page.route((url) => url.pathname === "/", async (route) => {
        const asked = new URL(route.request().url());
        // Replaces the server's redirect, because a redirect's target would not pass through here.
        if (asked.origin === server.url) return route.fulfill({contentType: "text/html", body: `<script>location.replace(${JSON.stringify(server.page + "/" + asked.search)})</script>`});
        const policy = (await fetch(server.url + "/").catch(() => null))?.headers.get("content-security-policy") ?? "";
        return policy ? route.fulfill({path: join(kPageFrom, "index.html"), headers: {"content-security-policy": policy, "content-type": "text/html"}}) : route.continue();
      });
      await page.route("**/assets/*", (route) => {
        const path = join(kPageFrom, new URL(route.request().url()).pathname);
        return existsSync(path) ? route.fulfill({path}) : route.continue();
      });
    }
    await page.goto(await server.loginLink());
    if (kPageFrom) await page.goto(server.page + "/");  // redirect targets do not pass through the route above
    await page.locator(".live-live").waitFor();
    await use(page);
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
  },
});
export {expect} from "@playwright/test";
