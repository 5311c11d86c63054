// The chat view, light and dark, wide and narrow: audited by axe and, if SCREENS is set, photographed for docs/screens.
import AxeBuilder from "@axe-core/playwright";
import {mkdirSync} from "node:fs";
import {join} from "node:path";
import type {Page} from "@playwright/test";
import {over} from "./believable";
import {answers, ask, begin, expect, prompts, test} from "./chat_fixture";
import type {Json, Server} from "./server";

type AuditedPage = ConstructorParameters<typeof AxeBuilder>[0]["page"];
const faults = async (page: Page) => (await new AxeBuilder({page: page as unknown as AuditedPage}).analyze()).violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.html).slice(0, 3).join(" | ")}`);
const kScreens = process.env["SCREENS"];
const kKept = ["chat"];

test.use({contextTokens: 32_768, modelName: "qwen3-coder-30b", tools: true});

const says = (role: string, content: string, more: Json = {}, event: Json = {}): Json => ({type: "message", summary: `${role}: ${content.split("\n")[0]}`, data: {role, content, tokens: Math.ceil(content.length / 4), tokensExact: true, ...more}, ...event});
const kAnswer = `The discount is applied **twice**: once in the branch at line 18 and again on return.

1. \`totalOf\` reduces the total when the cart has a discount.
2. The last line calls \`applyDiscount\` once more.

\`\`\`ts
-  return cart.applyDiscount(total);
+  return total;
\`\`\`

| cart | before | after |
|:-----|-------:|------:|
| one item | 90.00 | 90.00 |
| two items | 81.00 | 90.00 |

> The test \`applies the discount once\` fails for the same reason. See [the pull request](https://github.com/example/shop/pull/412).`;

// The log of a chat as the server writes it, with tools that this server need not have.
function story(): Json[] {
  const tool = (callID: string, name: string, input: Json, output: string, ms: number, success = true): Json[] => [
    {type: "tool_call", tool: name, callID, input, summary: String(input["command"] ? `Runs ${input["command"]}` : `Reads ${input["path"]}`)},
    {type: "tool_result", tool: name, callID, durationMS: ms, summary: output.split("\n")[0] ?? "", output: {success, summary: output}},
    says("tool", output, {toolCallID: callID, toolName: name, ...(success ? {} : {failed: true})}, {callID, tool: name})];
  return [
    {type: "session_start", summary: "Chat with qwen3-coder-30b", data: {model: "qwen3-coder-30b", contextTokens: 32_768, tools: ["read_file", "run_command"], system: "You help with the shop."}},
    says("user", "What is in this repository?", {by: "ada"}),
    says("assistant", "A small shop: carts, discounts, a checkout, and their tests.", {final: true, model: "qwen3-coder-30b"}),
    says("user", "Why does the checkout test fail since yesterday?", {by: "ada"}),
    {type: "eviction", summary: "2 older messages left the context", data: {reason: "context", messages: [2, 3], messagesEvicted: 2, tokensFreed: 1_204, totalTokens: 20_410}},
    says("assistant", "I run the test first.", {reasoning: "The failing test itself says most.", toolCalls: [{id: "c1", name: "run_command", arguments: '{"command":"npm test"}'}, {id: "c2", name: "read_file", arguments: '{"path":"src/checkout.ts"}'}]}),
    ...tool("c1", "run_command", {command: "npm test -- checkout"}, "✕ applies the discount once\n  Expected: 90\n  Received: 81", 4_210, false), ...tool("c2", "read_file", {path: "src/checkout.ts"}, "12  export function totalOf(cart: Cart): number {", 6),
    {type: "usage", summary: "", data: {costUSD: 0.0312, inputTokens: 21_000, outputTokens: 640, turns: 2}},
    says("assistant", kAnswer, {final: true, model: "qwen3-coder-30b", totalTokens: 21_640}),
  ];
}

async function believable(server: Server): Promise<void> {
  for (const [id, title] of [["look", "Why does the checkout test fail?"], ["names", "Names for the discount module"], ["sql", "Explain this SQL plan"]] as const) {
    await server.call("GET", `/sessions/${id}/session`);
    await server.call("PATCH", `/api/v1/tasks/${id}`, {title});
  }
  // A server with a model writes the logs of its chats alone.
  await server.configured("", () => server.post("look", over(6, story())));
  await server.call("POST", "/sessions/look/request", {prompt: "RUN git push origin fix/discount", async: true});
}

for (const scheme of ["light", "dark"] as const) {
  test(`no state of a chat has a fault that an audit finds (${scheme})`, async ({server, fleet, model}) => {
    await believable(server);
    await fleet.emulateMedia({colorScheme: scheme, reducedMotion: "reduce"});
    const shot = async (name: string) => {
      expect(await faults(fleet), name).toEqual([]);
      if (!kScreens || !kKept.includes(name)) return;
      mkdirSync(kScreens, {recursive: true});
      await fleet.mouse.move(700, 790);
      await fleet.waitForTimeout(500);
      await fleet.screenshot({path: join(kScreens, `${name}-${scheme}.png`)});
    };
    await fleet.goto(server.page + "/?chat=look");
    await fleet.locator(".card.needs-you").waitFor();
    await shot("chat");
    await fleet.goto(server.page + "/?chat=look&at=4");
    await fleet.locator(".turn.chosen").waitFor();
    await fleet.locator(".chat-tool summary").first().click();
    await shot("chat-tools");
    await fleet.goto(server.page + "/?view=chat");
    await shot("chat-new");
    await begin(fleet, server, "HOLD audit");
    await ask(fleet, "SAY the next one");
    await expect(fleet.locator(".answer.writing")).toContainText("Beginning");
    await expect(fleet.locator(".prompt.waiting")).toBeVisible();
    await shot("chat-streams");
    model.open("audit");
    await expect(answers(fleet)).toHaveCount(2);
    await fleet.getByRole("button", {name: "Clear"}).click();
    await shot("chat-clearing");
    await fleet.getByRole("button", {name: "Really clear it"}).click();
    await ask(fleet, "FAIL");
    await fleet.locator(".turn-error").waitFor();
    await shot("chat-cleared");
  });
}

test("a phone: nothing is wider than the screen, the list is behind a button", async ({server, fleet}) => {
  await believable(server);
  await fleet.setViewportSize({width: 390, height: 844});
  const fits = async (name: string) => {
    expect(await fleet.evaluate(() => document.documentElement.scrollWidth - innerWidth), name).toBeLessThanOrEqual(0);
    if (!kScreens || !kKept.includes(name)) return;
    await fleet.waitForTimeout(500);
    await fleet.screenshot({path: join(kScreens, `${name}-phone.png`)});
  };
  await fleet.goto(server.page + "/?chat=look");
  await fleet.locator(".card.needs-you").waitFor();
  await expect(fleet.getByRole("button", {name: "Approve", exact: true})).toBeInViewport();
  await fits("chat");
  await fleet.goto(server.page + "/?chat=look&at=4");
  await fleet.locator(".turn.chosen").waitFor();
  await fits("chat-tools");
  await expect(fleet.locator(".chats")).toBeHidden();
  await fleet.getByRole("button", {name: "Chats"}).click();
  await expect(fleet.locator(".chats")).toBeInViewport();
  await fits("chat-list");
  await fleet.locator(".chats").locator("a", {hasText: "Names for the discount module"}).click();
  await expect(fleet).toHaveURL(/chat=names/);
  await expect(fleet.locator(".chats")).toBeHidden();
  await ask(fleet, "SAY fine");
  await expect(prompts(fleet)).toContainText("SAY fine");
  await fits("chat-short");
});
