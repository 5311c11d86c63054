// Commands that no runner carries out, and commands that are not offered. The tests play the runner: they claim the
// task and take no command.
import type {Page} from "@playwright/test";
import {asks} from "./believable";
import {expect, test} from "./fixture";
import type {Json, Server} from "./server";

const kAgent = "of-these-tests";  // no other runner claims it

async function claimed(server: Server, id: string, events: Json[] = []): Promise<void> {
  await server.create({id, prompt: "Work", title: `Title of ${id}`, agent: kAgent});
  await server.call("POST", "/api/v1/claims", {runner: "deaf", agents: [kAgent]}, server.internal);
  await server.post(id, [{type: "thinking", summary: "at work", data: {kind: "text", text: "at work"}}, ...events]);
}
// The page's commands expire after a minute; here after a second, by the server's own clock.
async function soonOver(page: Page): Promise<void> {
  await page.route("**/commands", (route) => route.continue({postData: JSON.stringify({...(route.request().postDataJSON() as Json), expiresSeconds: 1})}));
}

test("an expired command is explained, wherever it is shown", async ({server, fleet}) => {
  await claimed(server, "deaf");
  await soonOver(fleet);
  await fleet.goto(server.url + "/?task=deaf");
  await fleet.getByLabel("Message to the agent").fill("hello?");
  await fleet.getByRole("button", {name: "After this turn"}).click();
  const why = "expired: no runner took it in time, so it was not done";
  await expect(fleet.locator(".sent .bad")).toHaveText(`queue: ${why}`);
  await expect(fleet.locator(".side .commands .bad")).toHaveText(why);
  await expect(fleet.locator(".story .command-row .bad")).toContainText(why);
  // A later visitor sees the same.
  await fleet.goto(server.url + "/?task=deaf");
  await expect(fleet.locator(".side .commands .bad")).toHaveText(why);
  await expect(fleet.locator(".story .command-row")).toContainText("hello?");
});

for (const place of ["/", "/?task=deaf"]) {
  test(`an answer that expired can be given again (${place})`, async ({server, fleet}) => {
    await claimed(server, "deaf", [asks("a1", "git push")]);
    await soonOver(fleet);
    await fleet.goto(server.url + place);
    const ask = fleet.locator(".need, .card.needs-you");
    await ask.getByRole("button", {name: "Approve"}).click();
    await expect(ask.getByRole("status")).toHaveText("Approved: expired: no runner took it in time, so it was not done");
    await expect(ask.getByRole("button", {name: "Approve"})).toBeEnabled();
    // This test, as the runner, takes the second one.
    await fleet.unroute("**/commands");
    await ask.getByRole("button", {name: "Deny"}).click();
    const denied = async () => ((await server.call("GET", "/api/v1/tasks/deaf/events?types=command"))["events"] as {data: Json}[]).find((each) => each.data["kind"] === "deny")?.data["id"];
    await expect.poll(denied).toBeTruthy();
    await server.post("deaf", [{type: "command_result", summary: "", data: {id: await denied(), state: "delivered"}}, {type: "approval", summary: "Denied", data: {approvalID: "a1", state: "denied"}}]);
    await expect(ask.getByRole("status")).toHaveText("Denied ✓ by you · given to the agent");
    await fleet.mouse.move(5, 5);
    await expect(ask).toHaveCount(0);
  });
}

test("a word to a waiting agent that expired is said to be", async ({server, fleet}) => {
  await claimed(server, "deaf", [{type: "status", summary: "Which currency?", data: {state: "waiting_for_input"}}]);
  await soonOver(fleet);
  const need = fleet.locator(".need");
  await need.getByLabel("Message to Title of deaf").fill("Euro");
  await need.getByRole("button", {name: "Send"}).click();
  await expect(need.getByRole("status")).toHaveText("Sent: expired: no runner took it in time, so it was not done");
});

test("a refused command says why, and what was written is still there", async ({server, fleet}) => {
  await server.create({id: "alone", prompt: "x", title: "Alone"});
  await server.post("alone", [{type: "thinking", summary: "hm", data: {kind: "text", text: "hm"}}]);
  await fleet.goto(server.url + "/?task=alone");
  const message = fleet.getByLabel("Message to the agent");
  await message.fill("hello?");
  await message.press("Enter");
  await expect(fleet.locator(".sent .bad")).toHaveText("steer: refused: no runner has this task now");
  await expect(fleet.locator(".side .commands .bad")).toHaveText("refused: no runner has this task now");
  await expect(fleet.locator(".story .command-row .bad")).toContainText("refused: no runner has this task now");
  await expect(message).toHaveValue("hello?");
});

const able = (commands: string[]): Json => ({type: "status", summary: "Running", data: {state: "running", capabilities: {commands, acknowledges: [], approvals: false}}});
const kLevers = ["Steer now", "After this turn", "Interrupt", "Resume", "Stop"];

for (const [commands, offered] of [
  [["stop"], ["Stop"]],
  [["queue", "stop"], ["After this turn", "Stop"]],
  [["steer", "interrupt", "resume"], ["Steer now", "Interrupt"]],
] as const) {
  test(`what an agent cannot do is not offered (it can ${commands.join(", ")})`, async ({server, fleet}) => {
    await server.create({id: "t", prompt: "x", title: "T"});
    await server.post("t", [able([...commands])]);
    await fleet.goto(server.url + "/?task=t");
    for (const name of kLevers) await expect(fleet.getByRole("button", {name, exact: true}), name).toHaveCount((offered as readonly string[]).includes(name) ? 1 : 0);
    await expect(fleet.getByLabel("Mode")).toHaveCount(0);
    await expect(fleet.getByLabel("Message to the agent")).toHaveCount(commands.some((each) => each === "steer" || each === "queue") ? 1 : 0);
  });
}

test("nor is it among what needs you", async ({server, fleet}) => {
  await server.create({id: "mute", prompt: "x", title: "Mute"});
  await server.post("mute", [able(["stop"]), {type: "status", summary: "Which currency?", data: {state: "waiting_for_input"}}]);
  await server.create({id: "talks", prompt: "x", title: "Talks"});
  await server.post("talks", [able(["queue"]), {type: "status", summary: "Which colour?", data: {state: "waiting_for_input"}}]);
  await server.create({id: "denies", prompt: "x", title: "Denies"});
  await server.post("denies", [able(["deny"]), asks("a1", "git push")]);
  const need = (title: string) => fleet.locator(".need", {hasText: title});
  await expect(need("Mute").getByRole("link", {name: "Look"})).toBeVisible();
  await expect(need("Mute").getByRole("button", {name: "Send"})).toHaveCount(0);
  await expect(need("Denies").getByRole("button", {name: "Deny"})).toBeVisible();
  await expect(need("Denies").getByRole("button", {name: "Approve"})).toHaveCount(0);
  // An agent that accepts messages only after a turn gets it then.
  await need("Talks").getByLabel("Message to Talks").fill("Blue");
  await need("Talks").getByRole("button", {name: "Send"}).click();
  await expect(need("Talks").getByRole("status")).toHaveText("Sent: refused: no runner has this task now");
  const sent = (await server.call("GET", "/api/v1/tasks/talks/events?types=command"))["events"] as {data: Json}[];
  expect(sent.map((each) => each.data["kind"])).toEqual(["queue"]);
});
