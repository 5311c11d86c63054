// The page can show all that an agent wrote, ran and got, however little of it the log has.
import {tool} from "./believable";
import {expect, test} from "./fixture";
import {recorded} from "./recorded";
import type {Json, Server} from "./server";

const numbers = (last: number) => Array.from({length: last}, (_, n) => `${n + 1}`).join("\n");

async function shown(server: Server, events: Json[]): Promise<void> {
  await server.create({id: "t", prompt: "Count", title: "Count"});
  for (let from = 0; from < events.length; from += 20) await server.post("t", events.slice(from, from + 20));
}

test("all of a tool's output is one click away, as the real agent's runner sends it", async ({server, fleet}) => {
  await shown(server, recorded("claude-01-tools", (block) => {
    if (block.type === "tool_result" && block.content === "aaa9fd7 initial") block.content = numbers(400);
  }));
  await fleet.goto(server.url + "/?task=t&at=12");
  const card = fleet.locator(".card", {hasText: "git log --oneline | cat"});
  await expect(card.locator("pre.output")).toContainText("12");
  await expect(card.getByText("more lines")).toHaveCount(0);  // their number is unknown
  await card.getByRole("button", {name: "show all of it"}).click();
  await expect(card.locator("pre.output")).toHaveText(numbers(400));
  await expect(card.getByRole("button", {name: /show/})).toHaveCount(0);
});

test("an output that the server itself shortened can be had, and its lines are counted", async ({server, fleet}) => {
  await shown(server, tool("Bash", {command: "seq 1 5000"}, numbers(5000), {failed: true}));
  await fleet.goto(server.url + "/?task=t");
  const card = fleet.locator(".card").last();
  await card.getByRole("button", {name: "show all of it"}).click();
  await expect(card.locator(".clipped")).toContainText("5,000 lines, 3,000 shown");
  await card.getByRole("button", {name: "show all of it"}).click();
  await expect(card.locator("pre.output")).toHaveText(numbers(5000));
  await expect(card.locator(".clipped")).toHaveCount(0);
});

test("an answer of more than 16 KiB says that it goes on, and does", async ({server, fleet}) => {
  const answer = Array.from({length: 290}, (_, n) => `Line ${n + 1} of a long answer that does not end before all is said.`).join("\n");
  await shown(server, recorded("claude-01-tools", (block) => { if (block.text === "Let me look around.") block.text = answer; }).slice(0, 4));
  await fleet.goto(server.url + "/?task=t");
  const step = fleet.locator(".step-thinking", {hasText: "Line 1 of a long answer"});
  await expect(step).not.toContainText("Line 290");
  await step.getByRole("button", {name: "show all of it"}).click();
  await expect(step).toContainText("Line 290 of a long answer");
});

test("all of a long command is one click away", async ({server, fleet}) => {
  const command = `cat <<'EOF'\n${Array.from({length: 40}, (_, n) => `a line of the text, the one with number ${n}`).join("\n")}\nEOF`;
  await shown(server, recorded("claude-01-tools", (block) => { if (block.input?.["command"] === "ls") block.input["command"] = command; }).slice(0, 5));
  await fleet.goto(server.url + "/?task=t");
  const card = fleet.locator(".card").last();
  await expect(card.locator("pre.command")).not.toContainText("number 39");
  await card.getByRole("button", {name: "show all of the input"}).click();
  await card.getByRole("button", {name: "show all of it"}).click();
  await expect(card.locator("pre.command")).toHaveText(command);
});

test("what could not be read is asked for again by a person, not by the page", async ({server, fleet, expected}) => {
  expected.answer(503, /\/detail$/);
  await shown(server, recorded("claude-01-tools", () => {}));
  let asked = 0;
  let status = 503;
  await fleet.route("**/detail", (route) => {
    ++asked;
    return status === 200 ? route.continue() : route.fulfill({status, json: {code: "busy", detail: "The server is busy."}});
  });
  await fleet.goto(server.url + "/?task=t&at=18");
  const card = fleet.locator(".card", {has: fleet.locator(".tool", {hasText: /^Edit$/})});
  await expect(card.getByRole("button", {name: "try again"})).toBeVisible();
  await fleet.waitForTimeout(3000);  // a rate needs some time
  expect(asked).toBe(1);
  status = 200;
  await card.getByRole("button", {name: "try again"}).click();
  await expect(card.locator(".diff-add")).toHaveCount(1);
  expect(asked).toBe(2);
});
