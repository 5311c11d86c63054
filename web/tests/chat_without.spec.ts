// Chats on a server without a model, and logs of chats as any program may have written them.
import {expect, test} from "./fixture";
import type {Json} from "./server";

test("no model: nothing is offered, and the address says what to do", async ({server, fleet}) => {
  await expect(fleet.getByRole("link", {name: "New task"}).first()).toBeVisible();
  await expect(fleet.getByRole("link", {name: "New chat"})).toHaveCount(0);
  await fleet.goto(server.page + "/?view=chat");
  await expect(fleet.locator(".notice")).toContainText("This server has no model to chat with");
  await expect(fleet.locator(".notice pre")).toContainText("models:");
});

const e = "\u001b";
const kHostile = ["<script>window.owned=1</script>", "<img src=x onerror=\"window.owned=1\">", "[x](javascript:window.owned=1)", "<https://a.example\u202e>", "![x](data:text/html,<script>window.owned=1</script>)",
  `${e}]0;stolen title\u0007after`, "invoice\u202egpj.exe", "```html\n<iframe src=javascript:window.owned=1></iframe>\n```", "| <b>a</b> | b |\n|-|-|\n| <svg onload=window.owned=1> | \u2066x |", "</textarea></pre></style><style>*{display:none}</style>"];

test("hostile and malformed logs of chats are text, and never break the view", async ({server, fleet}) => {
  const text = kHostile.join("\n\n");
  await server.create({id: "evil", prompt: text, title: kHostile.join(" "), agent: "chat"});
  const odd: Json[] = [{}, {role: 3, content: {}}, {role: "assistant", content: null, toolCalls: "x", final: "yes"}, {role: "assistant", toolCalls: [null, {id: 3}, {id: "c9", name: {}, arguments: 5}]}, {role: "tool"}]
    .map((data) => ({type: "message", summary: "odd", data}));
  await server.post("evil", [
    {type: "session_start", summary: text, data: {model: text, system: text, tools: [text]}},
    {type: "message", summary: text, data: {role: "user", content: text, by: text}},
    {type: "message", summary: text, data: {role: "assistant", content: text, reasoning: text, model: text, finishReason: text, final: true}},
    {type: "tool_call", tool: text, callID: "\"]{}<b>", input: {[text]: text}, summary: text},
    {type: "approval", tool: "run_command", callID: "\"]{}<b>", summary: text, data: {approvalID: "\"]{}<b>", state: "pending", kind: "permission", tool: "run_command", input: {command: text}, remember: [text]}},
    {type: "eviction", summary: text, data: {messages: [2, null, "x"], reason: text, messagesEvicted: -1}}, {type: "eviction", summary: text},
    {type: "error", summary: text, data: {code: text, message: text, final: true}}, {type: "log", summary: text}, {type: "usage", summary: text, data: {costUSD: "much"}},
    {type: "<b>unknown</b>", summary: text}, ...odd,
  ]);
  await server.call("POST", "/api/v1/tasks/evil/commands", {kind: "queue", content: text});  // refused: nothing takes it
  await fleet.goto(server.page + "/?chat=evil");
  await expect(fleet.locator(".prompt.refused")).toBeVisible();
  for (const place of ["&at=2", "&at=3", "&at=4", "&at=8", "&at=15", ""]) {
    await fleet.goto(server.page + "/?chat=evil" + place);
    await fleet.locator(".live-live").waitFor();
    await expect(fleet.locator(place ? ".turn.chosen" : ".turn").first()).toBeVisible();
    await fleet.evaluate(() => document.querySelectorAll("main details").forEach((fold) => { (fold as HTMLDetailsElement).open = true; }));
    const found = await fleet.evaluate(() => ({
      owned: (window as unknown as {owned?: number}).owned, title: document.title, body: document.body.innerText,
      made: document.querySelectorAll("main script, main iframe, main img, main style, main [onerror], main [onload]").length,
      links: [...document.querySelectorAll("a")].filter((link) => !/^https?:$/.test(link.protocol)).length,
    }));
    expect([found.owned, found.made, found.links], place).toEqual([undefined, 0, 0]);
    for (const each of [found.body, found.title]) expect(each, place).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u001b\u0007]/);
    await expect(fleet.locator(".unshown"), place).toHaveCount(0);
  }
  // What is decided on is exact.
  await fleet.goto(server.page + "/?chat=evil&at=4");
  expect(await fleet.locator(".card.needs-you pre.command").innerText()).toContain("\\u001b]0;stolen title\\u0007after");
});

test("a task that is not a chat, and one that does not exist", async ({server, fleet, expected}) => {
  expected.answer(404, /no-such-chat/);
  await server.create({id: "work", prompt: "x", title: "Work"});
  await fleet.goto(server.page + "/?chat=work");
  await expect(fleet.locator(".notice")).toContainText("This task is not a chat");
  await fleet.goto(server.page + "/?chat=no-such-chat");
  await expect(fleet.locator(".notice")).toContainText("There is no such chat");
});
