// With the real Claude Code: the page shows all that it did and wrote, and answers its questions.
import {expect, test} from "./fixture";
import {hasClaude, RealAgent} from "./real_agent";

test("a long output, an approval, a denial and a long answer", async ({server, fleet}) => {
  test.skip(!hasClaude, "NOT TESTED: the real Claude Code is not installed; tools/install-agent says why");
  const agent = new RealAgent(server);
  try {
    await agent.run("real", `Reply(tool("Bash", command="seq 1 400 | tee numbers", description="Count")),
      Reply(tool("Bash", command="touch pushed", description="Publish", timeout=61000)),
      Reply(text("\\n".join(f"Line {n} of a long answer that does not end before all is said." for n in range(1, 301))))`);
    await fleet.locator("[data-task=real]").click({timeout: 60_000});
    const asks = (command: string) => fleet.locator(".card.needs-you", {has: fleet.locator("pre.command", {hasText: command})});
    await asks("seq 1 400").getByRole("button", {name: "Approve"}).click({timeout: 60_000});
    await fleet.mouse.move(5, 5);
    const counted = fleet.locator(".step-tool_call", {hasText: "seq 1 400"});
    await counted.getByRole("button", {name: "show all of it"}).click();
    await expect(counted.locator("pre.output")).toHaveText(Array.from({length: 400}, (_, n) => `${n + 1}`).join("\n"));
    const ask = asks("touch pushed");
    await expect(ask.locator(".exact")).toContainText("61000");
    await ask.getByLabel("Note to the agent").fill("not today");
    await ask.getByRole("button", {name: "Deny"}).click();
    await fleet.mouse.move(5, 5);
    await expect(fleet.locator(".task-title .state")).toHaveText("completed");
    const answer = fleet.locator(".step-thinking", {hasText: "Line 1 of a long answer"});
    await expect(answer).not.toContainText("Line 300 of");
    await answer.getByRole("button", {name: "show all of it"}).click();
    await expect(answer).toContainText("Line 300 of a long answer");
    const calls = (await server.call("GET", "/api/v1/tasks/real/events?types=tool_call"))["events"] as {sequence: number}[];
    await fleet.goto(server.url + `/?task=real&at=${calls[1]!.sequence + 8}`);
    const denied = fleet.locator(".step-tool_call", {hasText: "touch pushed"});
    await expect(denied).toContainText("not today");
    await expect(denied.locator(".outcome")).toHaveText("⊘ denied");
    // Requested, waiting, answered, continuing, done: one card at each of these moments.
    await expect(counted.locator(".became")).toHaveText(/^asked · approved by \S+$/);
    await expect(denied.locator(".became")).toHaveText(/^asked · denied by \S+: not today$/);
    const events = (await server.call("GET", "/api/v1/tasks/real/events?limit=1000"))["events"] as {sequence: number; type: string; callID?: string}[];
    const done = events.find((each) => each.type === "tool_result" && each.sequence > calls[1]!.sequence)!;
    const told = events.filter((each) => each.sequence > calls[1]!.sequence && each.sequence < done.sequence).map((each) => each.type);
    expect(told).toEqual(expect.arrayContaining(["approval", "status", "command"]));
    for (let n = calls[1]!.sequence + 1; n <= done.sequence; ++n) {
      await fleet.goto(server.url + `/?task=real&at=${n}`);
      await expect(fleet.locator(".step.chosen")).toHaveAttribute("data-sequence", String(calls[1]!.sequence));
    }
  } finally {
    await agent.end();
  }
});

test("a word to the agent is one row, with what became of it", async ({server, fleet}) => {
  test.skip(!hasClaude, "NOT TESTED: the real Claude Code is not installed; tools/install-agent says why");
  const agent = new RealAgent(server);
  try {
    await agent.run("real", `Reply(tool("Bash", command="touch first", description="First")), Reply(text("As you say."))`);
    await fleet.locator("[data-task=real]").click({timeout: 60_000});
    const ask = fleet.locator(".card.needs-you");
    await ask.getByRole("button", {name: "Approve"}).waitFor({timeout: 60_000});
    await fleet.getByLabel("Message to the agent").fill("the tests come first");
    await fleet.getByRole("button", {name: "Steer now"}).click();
    await expect(fleet.locator(".sent")).toContainText("given to the agent");
    await ask.getByRole("button", {name: "Approve"}).click();
    await expect(fleet.locator(".task-title .state")).toHaveText("completed");
    const log = (await server.call("GET", "/api/v1/tasks/real/events?limit=1000"))["events"] as {type: string; data?: Record<string, unknown>}[];
    expect(log.filter((each) => each.type === "message" && each.data?.["content"] === "the tests come first").length, "the agent repeats it").toBe(1);
    const row = fleet.locator(".story .step", {hasText: "the tests come first"});
    await expect(row).toHaveCount(1);
    await expect(row).toContainText("the agent took it up");
  } finally {
    await agent.end();
  }
});
