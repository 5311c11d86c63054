// Tests with a server of their own and a page that is logged in. Whatever the page asks of anybody but its server, or
// says on its console as an error, fails the test.
import {test as base, type Page} from "@playwright/test";
import {Server} from "./server";

export const test = base.extend<{server: Server; runners: number; fleet: Page}>({
  runners: [0, {option: true}],
  server: async ({runners}, use) => {
    const server = await new Server(runners).start();
    await use(server);
    await server.remove();
  },
  fleet: async ({server, page}, use) => {
    const wrong: string[] = [];
    page.on("pageerror", (error) => wrong.push(`page error: ${error.message}`));
    page.on("console", (message) => {
      // A lost connection and a route that an older server lacks are the browser's own words, and expected.
      if (message.type() === "error" && !/ERR_CONNECTION|ERR_INTERNET_DISCONNECTED|WebSocket connection|404 \(Not Found\)|ERR_EMPTY_RESPONSE|ERR_SOCKET/.test(message.text())) wrong.push(message.text());
    });
    page.on("request", (request) => {
      if (!request.url().startsWith(server.url) && !request.url().startsWith(server.url.replace("http", "ws"))) wrong.push(`a third party was asked: ${request.url()}`);
    });
    await page.goto(await server.loginLink());
    await page.locator(".live-live").waitFor();
    await use(page);
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
  },
});
export {expect} from "@playwright/test";
