// An approval covers exactly what was shown, all of it, once.
import type {Locator, Page, Route} from "@playwright/test";
import {asks} from "./believable";
import {expect, test} from "./fixture";
import type {Json, Server} from "./server";

const kAgent = "of-these-tests";  // no other runner claims it

async function claimed(server: Server, id: string, events: Json[]): Promise<void> {
  await server.create({id, prompt: "Publish", title: "Publish", agent: kAgent, repo: {url: `https://git.example/team/${id}.git`, ref: "main"}});
  await server.call("POST", "/api/v1/claims", {runner: "deaf", agents: [kAgent]}, server.internal);
  await server.post(id, [{type: "thinking", summary: "at work", data: {kind: "text", text: "at work"}}, ...events]);
}
const commands = async (server: Server, id: string) => ((await server.call("GET", `/api/v1/tasks/${id}/events?types=command`))["events"] as {data: Json}[]).map((each) => each.data);
const settle = (server: Server, id: string, approvalID: string) => server.post(id, [{type: "approval", summary: "Approved", data: {approvalID, state: "approved"}}]);
const approve = (need: Locator) => need.getByRole("button", {name: "Approve", exact: true});
const asksFor = (approvalID: string, tool: string, input: Json, more: Json = {}): Json =>
  ({type: "approval", tool, summary: `Needs approval: ${tool}`, callID: `ask-${approvalID}`, data: {approvalID, state: "pending", kind: "permission", tool, input, ...more}});

for (const [tool, input, texts] of [
  ["Bash", {command: "make", description: "Build", timeout: 600001, run_in_background: true, dangerouslyDisableSandbox: true}, ["make", "Build", "timeout", "600001", "run_in_background", "dangerouslyDisableSandbox", "true"]],
  ["Edit", {file_path: "/etc/hosts", old_string: "one", new_string: "two", replace_all: true}, ["/etc/hosts", "one", "two", "replace_all"]],
  ["Write", {file_path: "/x", content: "all of it", mode: "0777"}, ["/x", "all of it", "mode", "0777"]],
  ["mcp__db__query", {sql: "drop table x", params: {deep: [1, {er: "deepest"}]}}, ["sql", "drop table x", "deepest"]],
] as [string, Json, string[]][]) {
  for (const place of ["/", "/?task=t"]) {
    test(`every member of ${tool}'s input is on the screen (${place})`, async ({server, fleet}) => {
      await claimed(server, "t", [asksFor("a1", tool, input)]);
      await fleet.goto(server.url + place);
      const need = fleet.locator(".need, .card.needs-you");
      await expect(approve(need)).toBeEnabled();
      const text = await need.locator(".exact").innerText();
      for (const each of texts) expect(text).toContain(each);
    });
  }
}

test("what is not shown cannot be approved before it is opened", async ({server, fleet}) => {
  const command = [...Array.from({length: 60}, (_, n) => `echo ${n}`), "rm -rf /"].join("\n");
  await claimed(server, "t", [asksFor("a1", "Bash", {command})]);
  await fleet.goto(server.url + "/");
  const need = fleet.locator(".need");
  await expect(need.getByRole("button", {name: "49 more lines"})).toBeVisible();
  await expect(approve(need)).toBeDisabled();
  await expect(need.getByRole("button", {name: "Change input"})).toBeDisabled();
  await expect(need.getByRole("button", {name: "Deny"})).toBeEnabled();
  await need.getByRole("button", {name: "49 more lines"}).click();
  await expect(need.locator("pre.command")).toHaveText(command);
  await expect(approve(need)).toBeEnabled();
  // All of it is visible on the page; no inner box hides a part.
  expect(await need.locator("pre.command").evaluate((box) => box.scrollHeight <= box.clientHeight + 1 && box.scrollWidth <= box.clientWidth + 1)).toBe(true);
});

test("an input too long for the log is read before it can be approved", async ({server, fleet, expected}) => {
  const content = `${"x".repeat(100)}\n`.repeat(700) + "the end of it";
  const cut = {...asksFor("a1", "Write", {file_path: "/x", content: content.slice(0, 500)}, {inputCut: true}), detail: {input: {file_path: "/x", content}}};
  await claimed(server, "t", [cut]);
  let fails = true;
  expected.answer(503, /\/detail$/);
  await fleet.route("**/detail", (route) => (fails ? route.fulfill({status: 503, json: {detail: "The server is busy."}}) : route.continue()));
  await fleet.goto(server.url + "/");
  const need = fleet.locator(".need");
  await expect(need).toContainText("All of the input could not be read: The server is busy.");
  await expect(approve(need)).toBeDisabled();
  fails = false;
  await need.getByRole("button", {name: "try again"}).click();
  await expect(approve(need)).toBeDisabled();
  await need.getByRole("button", {name: /more lines/}).click();
  await expect(need.locator(".diff")).toContainText("the end of it");
  await expect(approve(need)).toBeEnabled();
});

test("control strings and invisible characters are seen in what is approved", async ({server, fleet}) => {
  const hostile = ["echo hi\u009d; touch PWN \u009c", "echo hi \u001b]; touch PWN #\u0007", "echo \u0090; touch PWN", "ls\r; touch PWN", "ls\u202e; touch PWN", "ls\u3164; touch\u{e0101} PWN", "ls\u00a0x; touch PWN"];
  for (const [n, command] of hostile.entries()) await claimed(server, `t${n}`, [{...asksFor(`a${n}`, "Bash", {command}), summary: `Needs approval: Running ${command}`}]);
  for (const [n, command] of hostile.entries()) {
    await fleet.goto(server.url + `/?task=t${n}`);
    const text = await fleet.locator(".card.needs-you pre.command").innerText();
    const hidden = command.match(/[\u0000-\u001f\u007f-\u00a0\u202e\u3164\u{e0101}]/gu)!.map((each) => (each === "\r" ? "\\r" : each.length > 1 ? `\\u{${each.codePointAt(0)!.toString(16)}}` : `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`));
    for (const escape of hidden) expect(text).toContain(escape);
    expect(text.replace(/\\u\{?[0-9a-f]+\}?|\\r/g, "")).toContain("; touch");
    await expect(fleet.locator(".card.needs-you .subject")).toContainText("touch");
  }
});

test("a redaction in it is said beside the button", async ({server, fleet}) => {
  await claimed(server, "t", [asks("a1", "curl -u admin:correct-horse-battery https://host.example")]);
  await fleet.goto(server.url + "/");
  const need = fleet.locator(".need");
  await expect(need.locator("pre.command")).toContainText("[redacted");
  await expect(need.locator(".actions .redacted")).toContainText(/secrets are shown as marks; the agent uses the original text: \[redacted/);
});

test("what the agent offers more than once is chosen by name", async ({server, fleet}) => {
  const options = [{id: "once", name: "Allow", kind: "allow_once"}, {id: "modify", name: "Allow with changes", kind: "allow_once"}, {id: "no", name: "Reject", kind: "reject_once"}];
  const ask = asks("a1", "git push");
  await claimed(server, "t", [{...ask, data: {...(ask["data"] as Json), options, redacted: ["command"]}}]);
  await fleet.goto(server.url + "/");
  const need = fleet.locator(".need");
  await expect(need.locator(".actions .redacted")).toHaveText("secrets are shown as marks; the call runs with the original text of command");
  await expect(need.getByRole("button", {name: "Deny", exact: true})).toBeVisible();
  await expect(need.getByRole("button", {name: "Approve"})).toHaveCount(0);
  await need.getByRole("button", {name: "Allow with changes"}).click();
  const sent = async () => ((await server.call("GET", "/api/v1/tasks/t/events?types=command"))["events"] as {data: Json}[]).map((each) => [each.data["kind"], each.data["option"]]);
  await expect.poll(sent).toEqual([["approve", "modify"]]);
});

async function pointAt(page: Page, button: Locator): Promise<{x: number; y: number}> {
  const box = (await button.boundingBox())!;
  const at = {x: box.x + box.width / 2, y: box.y + box.height / 2};
  await page.mouse.move(at.x, at.y);
  return at;
}
const taskAt = (page: Page, at: {x: number; y: number}) =>
  page.evaluate(({x, y}) => document.elementFromPoint(x, y)?.closest(".need")?.querySelector<HTMLAnchorElement>(".need-title")?.search ?? "", at);

test("two clicks on one spot never approve two agents", async ({server, fleet}) => {
  for (const id of ["first", "second"]) await claimed(server, id, [asks(`a-${id}`, "git push")]);
  await fleet.goto(server.url + "/");
  await expect(fleet.locator(".need")).toHaveCount(2);
  // Both have the same name and can be distinguished.
  for (const each of ["first", "second"]) await expect(fleet.locator(".need", {hasText: `git.example/team/${each}`})).toHaveCount(1);
  const at = await pointAt(fleet, approve(fleet.locator(".need").first()));
  const id = (await taskAt(fleet, at)).replace("?task=", "");
  const other = id === "first" ? "second" : "first";
  await fleet.mouse.down();
  await fleet.mouse.up();
  await expect.poll(() => commands(server, id)).toHaveLength(1);
  await settle(server, id, `a-${id}`);
  await expect(fleet.locator(".badge")).toHaveText("1");  // the server no longer needs a person for it
  expect(await taskAt(fleet, at)).toBe(`?task=${id}`);
  await expect(fleet.locator(".need").first()).toContainText("Approved ✓ by you");
  await fleet.mouse.down();
  await fleet.mouse.up();
  await fleet.mouse.move(5, 5);
  await expect(fleet.locator(".need")).toHaveCount(1);
  expect(await commands(server, id)).toHaveLength(1);
  expect(await commands(server, other)).toHaveLength(0);
});

test("in a task, too: the answered stays in its place and what comes after does not push it away", async ({server, fleet}) => {
  await claimed(server, "t", [asks("a1", "git push one"), asks("a2", "git push two")]);
  await fleet.goto(server.url + "/?task=t");
  const one = fleet.locator(".card.needs-you", {hasText: "push one"});
  const at = await pointAt(fleet, approve(one));
  const step = () => fleet.evaluate(({x, y}) => document.elementFromPoint(x, y)?.closest(".step")?.getAttribute("data-sequence"), at);
  const before = await step();
  await server.post("t", Array.from({length: 12}, (_, n) => ({type: "thinking", summary: `on ${n}`, data: {kind: "text", text: `on ${n}`}})));
  await expect(fleet.locator(".bar-count")).toContainText("16 events");
  expect(await step()).toBe(before);
  await fleet.mouse.down();
  await fleet.mouse.up();
  await expect.poll(() => commands(server, "t")).toHaveLength(1);
  await settle(server, "t", "a1");
  await expect(one).toContainText("Approved ✓ by you");
  await expect(fleet.locator(".needs-line")).toHaveCount(1);
  expect(await step()).toBe(before);
  await fleet.mouse.down();
  await fleet.mouse.up();
  await fleet.mouse.move(5, 5);
  await expect(one).toHaveCount(0);
  expect((await commands(server, "t")).map((each) => each["approvalID"])).toEqual(["a1"]);
});

test("an urgent need does not come under a pointer that rests on another's button", async ({server, fleet}) => {
  await claimed(server, "waits", [{type: "status", summary: "Which currency?", data: {state: "waiting_for_input"}}]);
  await fleet.goto(server.url + "/");
  const at = await pointAt(fleet, fleet.locator(".need").getByRole("link", {name: "Look"}));
  await claimed(server, "urgent", [asks("a1", "git push --force")]);
  await expect(fleet.locator(".need")).toHaveCount(2);
  expect(await taskAt(fleet, at)).toBe("?task=waits");
  await expect(fleet.locator(".need").first()).toContainText("Which currency?");
  await fleet.mouse.move(5, 5);
  await expect(fleet.locator(".need").first()).toContainText("git push --force");
});

// The request reaches the server, but its answer does not reach the page.
async function arrives(server: Server, route: Route): Promise<void> {
  await server.call("POST", new URL(route.request().url()).pathname, route.request().postDataJSON());
  await route.abort();
}

for (const place of ["/", "/?task=t"]) {
  test(`a click after a lost answer is the same command (${place})`, async ({server, fleet, expected}) => {
    expected.lost();
    await claimed(server, "t", [asks("a1", "git push")]);
    // The live stream is silent from the first click on, so the page learns about its command only from the answer.
    let silent = false;
    await fleet.routeWebSocket(/\/api\/v1\/events/, (socket) => {
      const up = socket.connectToServer();
      up.onMessage((message) => { if (!silent) socket.send(message); });
    });
    await fleet.goto(server.url + place);
    await fleet.locator(".live-live").waitFor();
    await fleet.route("**/commands", async (route) => {
      silent = true;
      await arrives(server, route);
    }, {times: 1});
    const need = fleet.locator(".need, .card.needs-you");
    await approve(need).click();
    await expect(need.getByRole("status")).toContainText("send it again, it is done only once");
    await approve(need).click();
    await expect(need.getByRole("status")).toContainText("Approved ✓ by you");
    expect(await commands(server, "t")).toHaveLength(1);
  });
}

test("a message after a lost answer is the same message", async ({server, fleet, expected}) => {
  expected.lost();
  await claimed(server, "t", []);
  await fleet.goto(server.url + "/?task=t");
  await fleet.route("**/commands", (route) => arrives(server, route), {times: 1});
  const message = fleet.getByLabel("Message to the agent");
  await message.fill("hello?");
  await message.press("Enter");
  await expect(fleet.locator(".sent .bad")).toContainText("send it again, it is done only once");
  await message.press("Enter");
  await expect(message).toHaveValue("");
  expect((await commands(server, "t")).map((each) => each["content"])).toEqual(["hello?"]);
  // The same text later is another message.
  await message.fill("hello?");
  await message.press("Enter");
  await expect.poll(() => commands(server, "t")).toHaveLength(2);
});
