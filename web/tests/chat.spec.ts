// A chat on the page, with a real server and a scripted model: written, streamed, stopped, forked, cleared, read again.
import type {Page} from "@playwright/test";
import {answers, ask, begin, chatOf, expect, messages, prompt, prompts, test} from "./chat_fixture";
import type {Json} from "./server";

const writing = (page: Page) => page.locator(".answer.writing");
const stop = (page: Page) => page.getByRole("button", {name: "Stop", exact: true});

test("a prompt is written, its answer streams and stays", async ({server, fleet, model}) => {
  await fleet.getByRole("link", {name: "New chat"}).click();
  await expect(prompt(fleet)).toBeFocused();
  await prompt(fleet).fill("HOLD first");
  await prompt(fleet).press("Shift+Enter");
  await prompt(fleet).pressSequentially("gate");
  await expect(prompt(fleet)).toHaveValue("HOLD first\ngate");
  await expect(fleet).toHaveURL(/view=chat/);  // a line, not a prompt
  await prompt(fleet).press("Enter");
  await fleet.waitForURL(/\?chat=/);
  await expect(writing(fleet)).toContainText("Beginning of it,");
  await expect(prompt(fleet)).toHaveValue("");
  await expect(prompts(fleet)).toHaveText([/HOLD first\ngate/]);
  await expect(stop(fleet)).toBeVisible();
  model.open("first\ngate");
  await expect(answers(fleet)).toContainText("Beginning of it, and the end.");
  await expect(writing(fleet)).toHaveCount(0);
  await expect(stop(fleet)).toHaveCount(0);
  // Its model, tokens, context and price; what a screen reader is told.
  await expect(answers(fleet).locator("footer")).toContainText("fake-1");
  await expect(fleet.locator(".context")).toContainText(/\d+ of 8,192 tokens, exact/);
  await expect(fleet.locator(".chat-facts")).toContainText("unpriced");
  await expect(fleet.locator(".chat-main > .hidden[role=status]")).toHaveText("Answer: Beginning of it, and the end.");
  await expect(fleet).toHaveTitle(/^HOLD first/);
  expect(await messages(server, chatOf(fleet))).toEqual([["user", "HOLD first\ngate"], ["assistant", "Beginning of it, and the end."]]);
});

test.describe("with one chat at a time", () => {
  test.use({limits: {parallel_sessions: 1}});
  test("the first prompt is shown while its chat waits", async ({server, fleet, model}) => {
    await begin(fleet, server, "HOLD the other chat");
    await expect(writing(fleet)).toContainText("Beginning of it,");
    await fleet.goto(server.page + "/?view=chat");
    await ask(fleet, "SAY I waited");
    await fleet.waitForURL(/\?chat=/);
    await expect(fleet.locator(".prompt.waiting")).toContainText("SAY I waited");
    await fleet.reload();
    await expect(fleet.locator(".prompt.waiting")).toContainText("SAY I waited");
    model.open("the other chat");
    await expect(answers(fleet)).toContainText("I waited");
    await expect(fleet.locator(".prompt.waiting")).toHaveCount(0);
  });
});

test("Markdown is rendered, code can be copied, and markup stays text", async ({server, fleet}) => {
  await fleet.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const hostile = "<img src=x onerror=window.owned=1> [good](https://evil.example) [run](javascript:window.owned=1) \u202eltr ![pic](https://evil.example/i.png)";
  await begin(fleet, server, `SAY # Head\n\n- one **bold**\n- two\n\n\`\`\`py\nprint("a\u202eb")\n\`\`\`\n\n| a | b |\n|--|--:|\n| 1 | 2 |\n\n${hostile}`);
  const answer = answers(fleet);
  await expect(answer.locator("h2")).toHaveText("Head");
  await expect(answer.locator("li")).toHaveText(["one bold", "two"]);
  await expect(answer.locator("strong")).toHaveText("bold");
  await expect(answer.locator("td")).toHaveText(["1", "2"]);
  await expect(answer.locator("pre code")).toHaveText('print("a\\u202eb")');
  await answer.locator(".code-block").getByRole("button", {name: "Copy"}).click();
  await expect(answer.locator(".code-block").getByRole("button")).toHaveText("Copied");
  expect(await fleet.evaluate(() => navigator.clipboard.readText())).toBe('print("a\\u202eb")');
  await expect(answer).toContainText("<img src=x onerror=window.owned=1>");
  await expect(answer.locator("a[href^='https://evil.example']").first()).toHaveAttribute("rel", "noopener noreferrer");
  await expect(answer).toContainText("good (evil.example)");
  const found = await fleet.evaluate(() => ({
    owned: (window as unknown as {owned?: number}).owned, made: document.querySelectorAll("main img, main script, main iframe, main [onerror]").length,
    odd: [...document.querySelectorAll("a")].filter((link) => !/^https?:$/.test(link.protocol)).length, body: document.body.innerText,
  }));
  expect([found.owned, found.made, found.odd]).toEqual([undefined, 0, 0]);
  expect(found.body).not.toMatch(/[\u202a-\u202e]/);
});

test("a reload in the middle of an answer shows all of it, and it goes on", async ({server, fleet, model}) => {
  await begin(fleet, server, "HOLD a reload");
  await expect(writing(fleet)).toContainText("Beginning of it,");
  await fleet.reload();
  await expect(prompts(fleet)).toContainText("HOLD a reload");
  await expect(writing(fleet)).toHaveText("Beginning of it,");
  model.open("a reload");
  await expect(answers(fleet)).toContainText("Beginning of it, and the end.");
  await expect(writing(fleet)).toHaveCount(0);
});

test("code that streams is code from its first line, after a reload too", async ({server, fleet, model}) => {
  await begin(fleet, server, "CODE gate");
  await expect(writing(fleet).locator("pre")).toHaveText("print(1)");
  await fleet.reload();
  await expect(writing(fleet).locator("pre")).toHaveText("print(1)");
  model.open("gate");
  await expect(answers(fleet).locator("pre")).toHaveText("print(1)\nprint(2)");
  await expect(answers(fleet).locator("figcaption")).toContainText("py");
});

test("live text that was lost on the way is read again", async ({server, fleet, model}) => {
  // The first piece of the second answer does not reach the page.
  let pieces = 0;
  let loses = false;
  await fleet.routeWebSocket(/\/api\/v1\/events/, (socket) => {
    const up = socket.connectToServer();
    up.onMessage((message) => {
      const isLost = loses && String(message).includes('"delta"') && ++pieces === 1;
      if (!isLost) socket.send(message);
    });
  });
  await begin(fleet, server, "SAY one");
  await expect(answers(fleet)).toContainText("one");
  loses = true;
  await ask(fleet, "GATES lost");
  await expect.poll(() => pieces).toBe(1);
  await expect(writing(fleet)).toHaveCount(0);
  model.open("lost 1");
  await expect(writing(fleet)).toHaveText("One, two,");
  model.open("lost 2");
  await expect(answers(fleet).last()).toContainText("One, two, three.");
  expect(pieces).toBeGreaterThan(1);
});

test("stop ends the turn and keeps what was said", async ({server, fleet, model}) => {
  const id = await begin(fleet, server, "HOLD forever");
  await expect(writing(fleet)).toContainText("Beginning of it,");
  await stop(fleet).click();
  await expect(answers(fleet)).toContainText("Beginning of it,");
  await expect(answers(fleet).locator("footer")).toContainText("stopped");
  await expect(fleet.locator("[data-kind=error]")).toHaveText("■ Stopped. The turn was cancelled.");
  await expect(stop(fleet)).toHaveCount(0);
  await ask(fleet, "SAY still here");
  await expect(answers(fleet).last()).toContainText("still here");
  expect((await messages(server, id)).map(([role]) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  model.open("forever");
});

test("while it answers: a prompt waits for its turn, a word goes to the running one", async ({server, fleet, model}) => {
  const id = await begin(fleet, server, "HOLD this");
  await expect(writing(fleet)).toContainText("Beginning");
  await ask(fleet, "SAY the next one");
  const waiting = fleet.locator(".prompt.waiting");
  await expect(waiting).toContainText(["waits for its turn"]);
  await expect(waiting).toContainText(["SAY the next one"]);
  await fleet.getByLabel("Now", {exact: true}).check();
  await ask(fleet, "SAY a word");
  await expect(waiting).toHaveCount(2);
  await expect(waiting.last()).toContainText("for this turn");
  await expect(prompts(fleet)).toHaveCount(1);
  model.open("this");
  await expect(answers(fleet).last()).toContainText("the next one");
  await expect(waiting).toHaveCount(0);
  expect(await messages(server, id)).toEqual([["user", "HOLD this"], ["assistant", "Beginning of it, and the end."], ["user", "SAY a word"], ["assistant", "a word"], ["user", "SAY the next one"], ["assistant", "the next one"]]);
  await expect(fleet.locator("[data-kind=prompt], [data-kind=answer]")).toHaveCount(6);
});

test("a fork takes the turns up to an answer; a prompt can be edited in a fork", async ({server, fleet}) => {
  const id = await begin(fleet, server, "SAY one");
  await ask(fleet, "SAY two");
  await ask(fleet, "SAY three");
  await expect(answers(fleet)).toHaveCount(3);
  await answers(fleet).nth(1).getByRole("button", {name: "Fork"}).click();
  await expect(fleet).not.toHaveURL(new RegExp(id));
  await expect(prompts(fleet)).toHaveCount(2);
  await expect(answers(fleet)).toContainText(["one", "two"]);
  await expect(fleet.getByRole("heading", {level: 1})).toHaveText("Fork: SAY one");
  await ask(fleet, "SAY four");
  await expect(answers(fleet).last()).toContainText("four");
  const fork = chatOf(fleet);
  expect((await messages(server, fork)).map(([, words]) => words)).toEqual(["SAY one", "one", "SAY two", "two", "SAY four", "four"]);
  // The other one is as it was.
  await fleet.goto(server.page + `/?chat=${id}`);
  await expect(answers(fleet)).toHaveCount(3);
  await prompts(fleet).nth(2).getByRole("button", {name: "Edit in a fork"}).click();
  await expect(prompts(fleet)).toHaveCount(2);
  await expect(prompt(fleet)).toHaveValue("SAY three");
  await expect(fleet.locator(".chats li")).toHaveCount(3);
});

test("cleared: the model forgets, the page does not", async ({server, fleet, model}) => {
  await begin(fleet, server, "SAY one");
  await expect(answers(fleet)).toHaveCount(1);
  await fleet.getByRole("button", {name: "Clear"}).click();
  await fleet.getByRole("button", {name: "Really clear it"}).click();
  await expect(fleet.locator(".divider.cleared")).toContainText("Cleared");
  await expect(prompts(fleet)).toHaveClass(/gone/);
  await expect(prompts(fleet)).toContainText("no longer in the model’s context");
  await expect(answers(fleet)).toContainText("one");
  await expect(answers(fleet).getByRole("button", {name: "Fork"})).toHaveCount(0);
  await expect(fleet.locator(".context")).toContainText("5 of 8,192 tokens"); // the system prompt stays
  await ask(fleet, "SAY two");
  await expect(answers(fleet).last()).toContainText("two");
  await expect(prompts(fleet).last()).not.toHaveClass(/gone/);
  expect(model.requests.at(-1)!.filter((each) => each.role === "user").map((each) => each.content)).toEqual(["SAY two"]);
});

test("two tabs show the same, in the same order", async ({server, fleet, model}) => {
  const id = await begin(fleet, server, "SAY one");
  const other = await fleet.context().newPage();
  await other.goto(server.page + `/?chat=${id}`);
  await expect(answers(other)).toContainText("one");
  await ask(fleet, "HOLD both");
  await expect(writing(other)).toContainText("Beginning of it,");
  await Promise.all([ask(fleet, "SAY from here"), ask(other, "SAY from there")]);
  await expect(other.locator(".prompt.waiting")).toHaveCount(2);
  model.open("both");
  await expect(answers(fleet)).toHaveCount(4);
  await expect(answers(other)).toHaveCount(4);
  const shown = (page: Page) => page.locator("[data-kind=prompt] .prose, [data-kind=answer] .markdown").allInnerTexts();
  expect(await shown(fleet)).toEqual(await shown(other));
  expect(await shown(fleet)).toEqual((await messages(server, id)).map(([, words]) => words));
  await other.close();
});

for (const signal of ["SIGKILL", "SIGTERM"] as const) {
  test(`the server restarts in the middle of an answer (${signal})`, async ({server, fleet, model}) => {
    await begin(fleet, server, "SAY one");
    await ask(fleet, "HOLD lost");
    await expect(writing(fleet)).toContainText("Beginning of it,");
    await prompt(fleet).fill("a draft");
    await server.end(signal);
    await fleet.locator(".live-lost").waitFor();
    await server.start();
    await fleet.locator(".live-live").waitFor();
    await expect(fleet.locator("[data-kind=error]").last()).toContainText(signal === "SIGKILL" ? "The server ended during this turn. Ask again." : "shutting down");
    await expect(writing(fleet)).toHaveCount(0);
    await expect(prompt(fleet)).toHaveValue("a draft");
    await ask(fleet, "SAY two");
    await expect(answers(fleet).last()).toContainText("two");
    await expect(prompts(fleet)).toContainText(["SAY one", "HOLD lost", "SAY two"]);
    model.open("lost");
  });
}

test("a tool that does not exist is a card that says so, and the turn goes on", async ({server, fleet}) => {
  await begin(fleet, server, "READ notes.txt");
  const card = fleet.locator(".chat-tool");
  await expect(card.locator("summary")).toContainText(/read_file.*✕ failed/);
  await expect(card.locator("pre")).toBeHidden();
  await card.locator("summary").click();
  await expect(card.locator(".input")).toContainText("path");
  await expect(card.locator(".input")).toContainText("notes.txt");
  await expect(card.locator("pre").last()).toContainText('there is no tool "read_file"');
  await expect(answers(fleet)).toContainText(["I look.", "The tool said: "]);
});

test("an error of the backend is in the conversation, and the next prompt works", async ({server, fleet}) => {
  await begin(fleet, server, "FAIL");
  await expect(fleet.locator(".turn-error")).toContainText("The model has no idea");
  await ask(fleet, "SAY better");
  await expect(answers(fleet)).toContainText("better");
});

test.describe("a small context", () => {
  test.use({contextTokens: 640});
  test("what made room is grey and readable", async ({server, fleet, model}) => {
    await begin(fleet, server, "SAY the walrus sings");
    for (const word of ["a", "b", "c", "d"]) {
      await ask(fleet, `SAY ${word.repeat(90)}`);
      await expect(answers(fleet).last()).toContainText(word.repeat(90));
    }
    await expect(fleet.locator("[data-kind=eviction]").first()).toContainText("left the model’s context to make room");
    await expect(prompts(fleet).first()).toHaveClass(/gone/);
    await expect(answers(fleet).first()).toContainText("the walrus sings");
    await expect(answers(fleet).first()).toContainText("no longer in the model’s context");
    await expect(prompts(fleet).last()).not.toHaveClass(/gone/);
    expect(model.requests.at(-1)!.some((each) => (each.content ?? "").includes("walrus"))).toBe(false);
    // A prompt that cannot fit says so and is not lost.
    await ask(fleet, `SAY ${"z".repeat(4000)}`);
    await expect(fleet.locator(".turn-error")).toContainText("does not fit into the model's context");
    await expect(fleet.locator(".prompt.refused")).toContainText("zzzz");
  });
});

test.describe("a model with a price", () => {
  test.use({entry: {price: {as_of: "2026-11-01", input: 1000, output: 1000}}});
  test("the cost is in the head", async ({server, fleet}) => {
    await begin(fleet, server, "SAY one");
    await expect(fleet.locator(".chat-facts")).toContainText(/\$0\.0[1-9]/);
    await expect(fleet.locator(".chat-facts")).not.toContainText("unpriced");
  });
});

test("an unsent prompt is kept: elsewhere, and over a reload", async ({server, fleet}) => {
  const id = await begin(fleet, server, "SAY one");
  await prompt(fleet).fill("half a thought");
  await fleet.goto(server.page + "/");
  await fleet.locator(`[data-task="${id}"]`).click();
  await expect(fleet).toHaveURL(new RegExp(`chat=${id}`));
  await expect(prompt(fleet)).toHaveValue("half a thought");
  await fleet.reload();
  await expect(prompt(fleet)).toHaveValue("half a thought");
});

test("a prompt after a lost answer is the same prompt", async ({server, fleet, expected}) => {
  expected.lost();
  const id = await begin(fleet, server, "SAY one");
  await expect(answers(fleet)).toHaveCount(1);
  await fleet.route("**/commands", async (route) => {
    await server.call("POST", new URL(route.request().url()).pathname, route.request().postDataJSON());
    await route.abort();
  }, {times: 1});
  await ask(fleet, "SAY two");
  await expect(fleet.locator(".composer [role=status]")).toContainText("send it again, it is done only once");
  await prompt(fleet).press("Enter");
  await expect(prompt(fleet)).toHaveValue("");
  await expect(answers(fleet)).toHaveCount(2);
  const sent = (await server.call("GET", `/api/v1/tasks/${id}/events?types=command`))["events"] as {data: Json}[];
  expect(sent.map((each) => each.data["content"])).toEqual(["SAY two"]);
});

test("a long chat opens at its end, and its beginning is read on the way up", async ({server, fleet}) => {
  const id = await begin(fleet, server, "SAY the very first");
  for (let n = 0; n < 60; ++n) await server.call("POST", `/sessions/${id}/request`, {prompt: `SAY number ${n} ${"word ".repeat(40)}`});
  await fleet.goto(server.page + `/?chat=${id}`);
  await expect(answers(fleet).last()).toContainText("number 59");
  await expect(answers(fleet).last()).toBeInViewport();
  await fleet.locator(".conversation .virtual").evaluate((list) => { list.scrollTop = 0; });
  await expect(prompts(fleet).first()).toContainText("the very first");
  await fleet.getByRole("button", {name: "to the end"}).click();
  await expect(answers(fleet).last()).toContainText("number 59");
  // A result of the search opens at its message.
  await fleet.goto(server.page + `/?chat=${id}&at=3`);
  await expect(fleet.locator(".turn.chosen")).toBeInViewport();
});

test("a viewer reads and cannot write", async ({server, fleet, expected}) => {
  expected.answer(401, /^\/api\//);  // of the session that ends here
  const id = await begin(fleet, server, "SAY one");
  const made = await server.call("POST", "/api/v1/tokens", {name: "looker", scope: "viewer"});
  const link = await fetch(server.url + "/api/v1/login-links", {method: "POST", headers: {Authorization: `Bearer ${String(made["secret"])}`}});
  const {path} = (await link.json()) as {path: string};
  await fleet.context().clearCookies();
  await fleet.goto(server.page + path);
  await fleet.goto(server.page + `/?chat=${id}`);
  await expect(answers(fleet)).toContainText("one");
  await expect(fleet.locator(".composer")).toHaveText("Your token can read, but not write.");
  await expect(fleet.getByRole("button", {name: /Fork|Clear|Edit in a fork/})).toHaveCount(0);
  await expect(fleet.getByRole("link", {name: "New chat"})).toHaveCount(0);
});
