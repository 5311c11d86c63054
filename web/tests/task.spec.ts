import {asks, result, story, tool} from "./believable";
import {expect, test} from "./fixture";

test.beforeEach(async ({server, fleet}) => {
  await server.create({id: "t", prompt: "Fix it", title: "Fix it"});
  await server.post("t", [...story(), result]);
  await fleet.goto(server.url + "/?task=t&at=1");
  await fleet.locator(".step").first().waitFor();
});

test("the log reads as a story: each tool as a person wants it", async ({fleet}) => {
  const card = (name: string, nth = 0) => fleet.locator(".card", {has: fleet.locator(".tool", {hasText: new RegExp(`^${name}$`)})}).nth(nth);
  await expect(card("Bash").locator("pre.command")).toHaveText("npm test -- checkout");
  await expect(card("Bash").locator(".outcome")).toHaveText("✕ failed 4.2 s");
  await expect(card("Bash").locator(".fg-red").first()).toHaveText("✕ applies the discount once");
  await expect(card("Grep")).toContainText("3 lines");
  await expect(card("Read")).toContainText("/workspace/shop/src/checkout.ts");
  await expect(card("Edit").locator(".diff-del")).toContainText("return cart.applyDiscount(total);");
  await expect(card("Edit").locator(".diff-add")).toContainText("return total;");
  await fleet.goto(fleet.url().replace("at=1", "at=16"));
  await expect(fleet.locator(".step[data-level='1']").first()).toContainText("sub-agent");
  await expect(fleet.locator(".severity-high")).toHaveText("high");
  // Results are shown in their calls' cards, never twice.
  await expect(fleet.locator(".step-tool_result")).toHaveCount(0);
});

test("what the task leaves is on top", async ({fleet}) => {
  const leaves = fleet.locator(".task-leaves");
  await expect(leaves.getByRole("link")).toHaveAttribute("href", "https://github.com/example/shop/pull/412");
  await expect(leaves).toContainText("fix/discount");
  await expect(leaves).toContainText("2 files +14 −3");
});

test("the record of a step is there on demand", async ({server, fleet, expected}) => {
  expected.answer(404, /^\/api\/v1\/tasks\/t\/events\/\d+\/detail$/);  // its result has no detail
  await server.post("t", tool("Bash", {command: "date"}, "now", {detail: {raw: {type: "assistant", marker: "raw-of-date"}}}));
  await fleet.goto(server.url + "/?task=t");
  const last = fleet.locator(".card").last();
  await last.hover();
  await last.getByRole("button", {name: "record"}).click();
  await expect(last.locator("pre.raw").first()).toContainText("raw-of-date");
});

test("it follows at the end and never jumps elsewhere", async ({server, fleet}) => {
  await fleet.goto(server.url + "/?task=t");
  await fleet.locator(".step").first().waitFor();
  await server.post("t", [{type: "thinking", summary: "A new thought", data: {kind: "text", text: "A new thought"}}]);
  await expect(fleet.locator(".story").getByText("A new thought")).toBeInViewport();
  const list = fleet.locator(".virtual");
  await list.evaluate((element) => { element.scrollTop = 0; });
  await expect(fleet.getByRole("button", {name: "to the end"})).toBeVisible();
  const first = fleet.locator(".step[data-sequence='1']");
  await first.waitFor();
  const before = (await first.boundingBox())!.y;
  await server.post("t", Array.from({length: 30}, (_, i) => ({type: "thinking", summary: `more ${i}`, data: {kind: "text", text: `more ${i}`}})));
  await expect(fleet.locator(".bar-count")).toHaveText(`${story().length + 32} events`);
  expect((await first.boundingBox())!.y).toBe(before);
  await fleet.getByRole("button", {name: "to the end"}).click();
  await expect(fleet.locator(".story").getByText("more 29")).toBeInViewport();
});

test("the next error is one key away", async ({fleet}) => {
  await fleet.keyboard.press("e");
  await expect(fleet).toHaveURL(/at=6/);
  await expect(fleet.locator(".step.chosen")).toContainText("npm test -- checkout");
  await fleet.keyboard.press("e");
  await expect(fleet.locator(".step.chosen")).toContainText("529");
  await fleet.keyboard.press("E");
  await expect(fleet.locator(".step.chosen")).toContainText("npm test -- checkout");
});

test("a failed result far from what was read is an error, too", async ({server, fleet}) => {
  const call = (id: string, success: boolean) => [{type: "tool_call", tool: "Bash", callID: id, summary: id, input: {command: id}}, {type: "tool_result", tool: "Bash", callID: id, summary: "", output: {success, summary: id}}];
  const filler = Array.from({length: 700}, (_, n) => ({type: "thinking", summary: `thought ${n}`, data: {kind: "text", text: `thought ${n}`}}));
  await server.create({id: "far", prompt: "x", title: "Far"});
  await server.post("far", [...call("first", false), ...filler, ...call("second", false), ...filler, ...call("third", true)]);
  await fleet.goto(server.url + "/?task=far");
  await fleet.locator(".step").first().waitFor();
  for (const [key, at] of [["E", 704], ["E", 2], ["e", 704]] as const) {
    await fleet.keyboard.press(key);
    await expect(fleet).toHaveURL(new RegExp(`at=${at}$`));
  }
});

test("the side panel counts tools and files", async ({fleet}) => {
  await fleet.goto(fleet.url().replace("&at=1", ""));
  const side = fleet.locator(".side");
  await expect(side.locator("tbody tr").first()).toHaveText(/Bash\s*2\s*1\s*8\.3 s/);
  await expect(side).toContainText("/workspace/shop/src/checkout.ts");
  await expect(side).toContainText("413k");
  await expect(side).toContainText("$0.42");
});

test("live text is shown while it is written", async ({server, fleet}) => {
  await fleet.goto(server.url + "/?task=t");
  await fleet.locator(".live-live").waitFor();
  await fleet.locator(".step").first().waitFor();
  await server.call("POST", "/api/v1/tasks/t/deltas", {block: "b1", text: "Writing thi"}, server.internal);
  await expect(fleet.locator(".writing")).toContainText("Writing thi");
  await server.post("t", [{type: "thinking", summary: "Writing this", data: {kind: "text", text: "Writing this"}}]);
  await expect(fleet.locator(".writing")).toHaveCount(0);
});

test("rows never lie over one another, whatever comes into them later", async ({server, fleet}) => {
  // Changes are read after their rows are shown, so the rows grow.
  const edit = (n: number) => tool("Edit", {file_path: `/src/${n}.ts`, oldLength: 1, newLength: 1}, "ok",
    {detail: {input: {file_path: `/src/${n}.ts`, old_string: "one\ntwo\nthree", new_string: `one\n${n}\nthree\nfour`}}});
  await server.post("t", Array.from({length: 6}, (_, n) => edit(n)).flat());
  await fleet.goto(server.url + "/?task=t");
  await expect(fleet.locator(".diff-add").last()).toBeVisible();
  await expect.poll(() => fleet.locator(".row").evaluateAll((rows) => {
    const boxes = rows.map((row) => row.getBoundingClientRect()).filter((box) => box.height > 0).sort((a, b) => a.top - b.top);
    return Math.max(0, ...boxes.slice(1).map((box, index) => Math.round(boxes[index]!.bottom - box.top)));
  })).toBe(0);
  await expect(fleet.locator(".diff-add").last()).toBeInViewport();
});

test("what waits for a person is one click away, however long the log went on", async ({server, fleet}) => {
  await server.post("t", [asks("a1", "git push")]);
  await server.post("t", Array.from({length: 300}, (_, i) => ({type: "thinking", summary: `on and on ${i}`, data: {kind: "text", text: `on and on ${i}`}})));
  await fleet.goto(server.url + "/?task=t");
  await expect(fleet.locator(".story").getByText("on and on 299")).toBeInViewport();
  await fleet.locator(".needs-line").getByRole("link", {name: "answer"}).click();
  const approve = fleet.locator(".card.needs-you").getByRole("button", {name: "Approve"});
  await expect(approve).toBeInViewport();
  await expect(approve).toBeFocused();
});

test("a call that waits for a person is not said to run", async ({server, fleet}) => {
  await server.post("t", [{type: "tool_call", tool: "Bash", callID: "ask-a1", summary: "Running git push", input: {command: "git push"}}, asks("a1", "git push")]);
  await fleet.goto(server.url + "/?task=t");
  const call = fleet.locator(".step-tool_call").last();
  await expect(call.locator(".outcome")).toHaveText("waits for you");
  await expect(call.locator("pre.command")).toHaveCount(0);
  await expect(fleet.locator(".card.needs-you pre.command")).toHaveText("git push");
  await server.post("t", [{type: "approval", tool: "Bash", callID: "ask-a1", summary: "Approved: git push", data: {approvalID: "a1", state: "approved", kind: "permission", message: "by its mode"}}]);
  await expect(call.locator("pre.command")).toHaveText("git push");
  // The request is over and shown in its call's card.
  await expect(call).toContainText("asked · approved: by its mode");
  await expect(fleet.locator(".step-approval")).toHaveCount(0);
});

test("tokens of a turn that goes on are in the panel and not in the log", async ({server, fleet}) => {
  const used = (outputTokens: number, more: object) => ({type: "usage", summary: `${outputTokens} so far`, sessionID: "s", data: {inputTokens: 40, outputTokens, cacheReadTokens: 0, cacheWriteTokens: 0, ...more}});
  await server.post("t", [used(777, {partial: true}), {type: "thinking", summary: "goes on", data: {kind: "text", text: "goes on"}}]);
  await fleet.goto(server.url + "/?task=t");
  await expect(fleet.locator(".story").getByText("goes on")).toBeVisible();
  await expect(fleet.locator(".side .facts.numbers").first()).toContainText("output5987");  // including earlier turns
  await expect(fleet.locator(".story")).not.toContainText("777 so far");
  // It still has a moment in the log.
  const last = (await server.call("GET", "/api/v1/tasks/t"))["lastSequence"] as number;
  await fleet.goto(server.url + `/?task=t&at=${last - 1}`);
  await expect(fleet.locator(".side .facts.numbers").first()).toContainText("output5987");
  await expect(fleet.locator(".step.chosen")).toBeInViewport();
  await server.post("t", [used(999, {turns: 1, costUSD: 0.5})]);
  await fleet.goto(server.url + "/?task=t");
  await expect(fleet.locator(".story")).toContainText("999 so far");
});

test("how its agent is confined is said, and that it is not", async ({server, fleet}) => {
  const running = (confined: string) => server.post("t", [{type: "status", summary: "Running", data: {state: "running", confined}}]);
  await running("secrets");
  await fleet.goto(server.url + "/?task=t");
  const confined = fleet.locator(".side .facts div", {hasText: "confined"});
  await expect(confined.locator("dd")).toHaveText("secrets");
  await expect(confined.locator(".bad")).toHaveCount(0);
  await running("none");
  await expect(confined.locator(".bad")).toHaveText("none");
});

test("a denied call is denied, not failed", async ({server, fleet}) => {
  await server.post("t", [{type: "tool_call", tool: "Write", callID: "no-1", summary: "Writing x", input: {file_path: "/x", content: "x"}},
    {type: "tool_result", tool: "Write", callID: "no-1", durationMS: 4, summary: "Not that file", output: {success: false, denied: true, summary: "Not that file"}}]);
  await fleet.goto(server.url + "/?task=t");
  const card = fleet.locator(".card.denied");
  await expect(card.locator(".outcome")).toHaveText("⊘ denied");
  await expect(card).toContainText("Not that file");
  await expect(fleet.locator(".side tbody tr", {hasText: "Write"})).toHaveText(/Write\s*1\s*4 ms/);
  await expect(fleet.locator(".side .files")).not.toContainText("/x");
});

test("tools that were not all counted say so, and can be", async ({server, fleet}) => {
  const kCalls = 2600;  // with results, more than the panel reads at once
  for (let from = 0; from < kCalls; from += 650) {
    await server.post("t", Array.from({length: 650}, (_, i) => tool("Glob", {pattern: `${from + i}`}, "x")).flat());
  }
  await fleet.goto(server.url + "/?task=t");
  const side = fleet.locator(".side");
  await expect(side.locator(".counted")).toHaveText(/since event \d+ count all/);
  await side.getByRole("button", {name: "count all"}).click();
  await expect(side.locator(".counted")).toHaveCount(0);
  await expect(side.locator("tbody tr").first()).toHaveText(/Glob\s*2601/);
  await expect(side.locator("tbody")).toContainText(/Bash\s*2\s*1/);
  // At a moment the panel counts what the moment needs without a click.
  await fleet.goto(server.url + "/?task=t&at=8");
  await expect(side.locator("tbody")).toHaveText(/Bash\s*1\s*1.*Grep\s*1/);
});

test("a task that does not exist is said, and the connection stays", async ({server, fleet, expected}) => {
  expected.answer(404, /^\/api\/v1\/.*no-such-task/);
  await fleet.goto(server.url + "/?task=no-such-task");
  await expect(fleet.getByText("There is no such task.")).toBeVisible();
  await expect(fleet.locator(".live-live")).toBeVisible();
});
