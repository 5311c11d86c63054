// Signing in: the scope of the session's cookie, a used link, a pasted token.
import {createServer} from "node:http";
import type {AddressInfo} from "node:net";
import {expect, test} from "./fixture";

test("another server on this machine does not get the session", async ({server, page}) => {
  const cookies: string[] = [];
  const other = createServer((request, answer) => {
    cookies.push(request.headers.cookie ?? "");
    answer.setHeader("Content-Type", "text/html");
    answer.end("<title>another</title>");
  }).listen(0, "127.0.0.1");
  try {
    const link = new URL(await server.loginLink());
    // A link with the address instead of the name.
    await page.goto(`${server.url}${link.pathname}${link.search}`);
    await page.locator(".live-live").waitFor();
    expect(new URL(page.url()).origin).toBe(server.page);
    const port = (other.address() as AddressInfo).port;
    for (const host of ["127.0.0.1", "localhost"]) await page.goto(`http://${host}:${port}/`);
    expect(cookies.length).toBeGreaterThanOrEqual(2);
    expect(cookies.filter((each) => each.includes("shepherd"))).toEqual([]);
    // The address again leads to the name under which the browser is signed in.
    await page.goto(server.url + "/?view=findings");
    await expect(page).toHaveURL(`${server.page}/?view=findings`);
    await page.locator(".live-live").waitFor();
  } finally {
    other.close();
  }
});

test("a used link leads a browser that is signed in to the page", async ({server, page}) => {
  const link = await server.loginLink();
  for (let times = 0; times < 2; ++times) {
    await page.goto(link);
    await page.locator(".live-live").waitFor();
  }
});

test("a token is pasted", async ({server, page}) => {
  const made = await server.call("POST", "/api/v1/tokens", {name: "ann", scope: "viewer"});
  await page.goto(server.page + "/login");
  await page.getByLabel("paste a token").fill("shp_wrong");
  await page.getByRole("button", {name: "Sign in"}).click();
  await expect(page.getByRole("alert")).toContainText("not a token of this server");
  await page.getByLabel("paste a token").fill(String(made["secret"]));
  await page.getByRole("button", {name: "Sign in"}).click();
  await page.locator(".live-live").waitFor();
  expect(new URL(page.url()).pathname).toBe("/");
  const me = await page.evaluate(async () => (await fetch("/api/v1/whoami")).json() as Promise<{person: string}>);
  expect(me.person).toBe("ann");
});
