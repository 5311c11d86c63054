// The server's own tools in a chat: cards, approvals in place, a stop while one runs.
import {existsSync} from "node:fs";
import {join} from "node:path";
import {answers, ask, begin, expect, messages, test} from "./chat_fixture";

test.use({tools: true});

const needs = ".card.needs-you";

test("a tool that needs no approval is one folded card with input, output and time", async ({server, fleet}) => {
  await begin(fleet, server, "READ notes.txt");
  const card = fleet.locator(".chat-tool");
  await expect(card).toHaveCount(1);
  await expect(card.locator("summary")).toContainText(/read_file.*notes\.txt.*✓ \d/);
  await expect(card.locator("pre")).toBeHidden();
  await card.locator("summary").click();
  await expect(card.locator(".input")).toContainText("notes.txt");
  await expect(card.locator("pre").last()).toContainText("Remember the milk.");
  await expect(answers(fleet)).toContainText(["I look.", "Remember the milk."]);
});

test("two tools at once are two cards, one of them failed", async ({server, fleet}) => {
  await begin(fleet, server, "TWO");
  await expect(fleet.locator(".chat-tool")).toHaveCount(2);
  await expect(fleet.locator(".chat-tool.failed")).toHaveCount(1);
  await expect(answers(fleet)).toContainText("The tool said: ");
});

test("approve in place: everything is shown, the tool runs, the card says who", async ({server, fleet, files}) => {
  const command = `touch ${join(files, "made")} && echo made it`;
  const id = await begin(fleet, server, `RUN ${command}`);
  const ask = fleet.locator(needs);
  await expect(ask).toBeVisible();
  expect((await ask.locator(".exact").innerText()).replace(/^\$ /, "")).toContain(command);
  expect(existsSync(join(files, "made"))).toBe(false);
  await expect(fleet.locator(".chat-main > .hidden[role=status]")).toContainText("Needs approval");
  await ask.getByRole("button", {name: "Approve", exact: true}).click();
  await expect(answers(fleet)).toContainText("made it");
  await fleet.mouse.move(5, 5);
  await expect(ask).toHaveCount(0);
  expect(existsSync(join(files, "made"))).toBe(true);
  const card = fleet.locator(".chat-tool");
  await card.locator("summary").click();
  await expect(card.locator(".became")).toContainText("approved by");
  await expect(card.locator("pre").last()).toContainText("made it");
  const {events} = await server.call("GET", `/api/v1/tasks/${id}/events?types=command`);
  expect(events).toHaveLength(1);
});

test("deny with a word: it does not run, and the model is told", async ({server, fleet, files}) => {
  const id = await begin(fleet, server, `RUN touch ${join(files, "made")}`);
  await fleet.locator(needs).getByLabel("Note to the agent").fill("not now");
  await fleet.locator(needs).getByRole("button", {name: "Deny"}).click();
  await fleet.mouse.move(5, 5);
  await expect(fleet.locator(".chat-tool.denied summary")).toContainText("denied");
  await expect(answers(fleet)).toContainText("not now");
  expect(existsSync(join(files, "made"))).toBe(false);
  expect((await messages(server, id)).find(([role]) => role === "tool")?.[1]).toContain("a person denied this call. not now");
});

test("remembered for this chat: the second use asks no more", async ({server, fleet}) => {
  await begin(fleet, server, "RUN echo one");
  await fleet.locator(needs).getByRole("checkbox").check();
  await fleet.locator(needs).getByRole("button", {name: "Approve", exact: true}).click();
  await fleet.mouse.move(5, 5);
  await expect(answers(fleet)).toContainText("one");
  await ask(fleet, "RUN echo two");
  await expect(answers(fleet).last()).toContainText("two");
  await expect(fleet.locator(".chat-tool")).toHaveCount(2);
});

test("an approval is among what needs you, and leads to the chat", async ({server, fleet}) => {
  const id = await begin(fleet, server, "RUN echo hello");
  await expect(fleet.locator(needs)).toBeVisible();
  await fleet.goto(server.page + "/");
  await expect(fleet.locator(".need")).toContainText("echo hello");
  await fleet.locator(".need-title").click();
  await expect(fleet).toHaveURL(new RegExp(`chat=${id}`));
  await fleet.locator(needs).getByRole("button", {name: "Approve", exact: true}).click();
  await expect(answers(fleet)).toContainText("hello");
});

test("stop while an approval is open, and while a command runs", async ({server, fleet}) => {
  await begin(fleet, server, "RUN sleep 600");
  await expect(fleet.locator(needs)).toBeVisible();
  await fleet.getByRole("button", {name: "Stop", exact: true}).click();
  await fleet.mouse.move(5, 5);
  await expect(fleet.locator(needs)).toHaveCount(0);
  await expect(fleet.locator("[data-kind=error]")).toContainText("Stopped");
  await ask(fleet, "RUN sleep 601");
  await fleet.locator(needs).getByRole("button", {name: "Approve", exact: true}).click();
  await fleet.mouse.move(5, 5);
  await expect(fleet.locator(".chat-tool .outcome").last()).toContainText("running");
  await fleet.getByRole("button", {name: "Stop", exact: true}).click();
  await expect(fleet.locator(".chat-tool .outcome").last()).toContainText("failed");
  await expect(fleet.locator("[data-kind=error]")).toHaveCount(2);
});

test("a restart while an approval is open: it expired, and the chat goes on", async ({server, fleet}) => {
  await begin(fleet, server, "RUN echo hello");
  await expect(fleet.locator(needs)).toBeVisible();
  await server.end("SIGKILL");
  await server.start();
  await fleet.locator(".live-live").waitFor();
  await fleet.mouse.move(5, 5);
  await expect(fleet.locator(needs)).toHaveCount(0);
  await expect(fleet.locator("[data-kind=error]")).toContainText("The server ended during this turn.");
  await ask(fleet, "SAY on");
  await expect(answers(fleet).last()).toContainText("on");
});
