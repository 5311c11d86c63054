import {asks} from "./believable";
import {expect, test} from "./fixture";

test("one approval among a thousand tasks is on the first screen, with its buttons", async ({server, fleet}) => {
  test.setTimeout(120_000);
  // Older than the newest thousand, and ended: not read at once.
  for (let i = 0; i < 20; ++i) {
    await server.create({id: `old-${i}`, prompt: `Ancient task ${i}`});
    await server.status(`old-${i}`, "completed", {message: "long done"});
  }
  await server.create({id: "old-alive", prompt: "Old but alive"});
  for (let i = 0; i < 1000; i += 50) {
    await Promise.all(Array.from({length: 50}, (_, k) => server.create({id: `t-${i + k}`, prompt: `Task number ${i + k}`})));
  }
  await server.post("t-7", [{type: "thinking", summary: "working", data: {kind: "text", text: "working"}}, asks("a7", "git push --force")]);
  await fleet.reload();
  const approve = fleet.locator(".needs").getByRole("button", {name: "Approve"});
  await expect(approve).toBeInViewport();
  await expect(fleet.locator(".needs").getByText("Task number 7", {exact: true})).toBeInViewport();
  await expect(fleet.locator(".needs pre.command")).toHaveText("git push --force");
  // What is here is said; what is older can be found and had. What is active is here, whatever its age.
  await expect(fleet.getByText("1001 tasks: the newest and all that are active")).toBeVisible();
  await fleet.getByLabel("Filter tasks").fill("alive");
  await expect(fleet.locator("[data-task=old-alive]")).toBeVisible();
  await fleet.getByLabel("Filter tasks").fill("Ancient task 7");
  await expect(fleet.locator("[data-task=old-7]")).toBeVisible();
  await fleet.getByLabel("Filter tasks").fill("");
  await fleet.getByRole("button", {name: "Load older"}).click();
  await expect(fleet.getByRole("status").getByText("1021 tasks", {exact: true})).toBeVisible();
  await expect(fleet.getByRole("button", {name: "Load older"})).toHaveCount(0);
  await expect(fleet).toHaveTitle(/^\(1\)/);
  // A thousand rows, of which only what is seen exists; scrolling through them stays quick.
  expect(await fleet.locator(".fleet-row[data-task]").count()).toBeLessThan(80);
  const slowest = await fleet.evaluate(async () => {
    const list = document.querySelector(".virtual")!;
    let longest = 0;
    let before = performance.now();
    for (let step = 0; step < 60; ++step) {
      list.scrollTop += 600;
      await new Promise(requestAnimationFrame);
      longest = Math.max(longest, performance.now() - before);
      before = performance.now();
    }
    return longest;
  });
  console.log(`slowest frame while scrolling 1,000 rows: ${Math.round(slowest)} ms`);
  expect(slowest).toBeLessThan(500);
});

test("an approval is answered where it is shown, with the input as it was changed", async ({server, fleet}) => {
  await server.create({id: "t", prompt: "Publish", title: "Publish"});
  await server.post("t", [asks("a1", "git push")]);
  await fleet.reload();
  const need = fleet.locator(".need").first();
  await need.getByRole("button", {name: "Change input"}).click();
  await need.getByLabel("Input as it will run").fill('{"command":"git push --dry-run"}');
  await need.getByLabel("A word to the agent").fill("carefully");
  await need.getByRole("button", {name: "Approve as changed"}).click();
  await expect(need.getByRole("status")).toContainText("refused: nobody runs this task now");
  const log = await server.call("GET", "/api/v1/tasks/t/events?types=command");
  const command = (log["events"] as {data: Record<string, unknown>}[])[0]!.data;
  expect(command).toMatchObject({kind: "approve", approvalID: "a1", input: {command: "git push --dry-run"}, message: "carefully"});
});

test("broken input is not sent", async ({server, fleet}) => {
  await server.create({id: "t", prompt: "Publish", title: "Publish"});
  await server.post("t", [asks("a1", "git push")]);
  await fleet.reload();
  const need = fleet.locator(".need").first();
  await need.getByRole("button", {name: "Change input"}).click();
  await need.getByLabel("Input as it will run").fill("{command");
  await need.getByRole("button", {name: "Approve as changed"}).click();
  await expect(need.getByRole("status")).toContainText("not JSON");
  expect(((await server.call("GET", "/api/v1/tasks/t/events?types=command"))["events"] as unknown[]).length).toBe(0);
});

test("the failed and the waiting have their own way out", async ({server, fleet}) => {
  await server.create({id: "w", prompt: "Ask me", title: "Ask me"});
  await server.post("w", [{type: "status", summary: "Which currency?", data: {state: "waiting_for_input"}}]);
  await server.create({id: "f", prompt: "Break", title: "Break"});
  await server.status("f", "failed", {message: "broke", details: {error: "it broke"}});
  await fleet.reload();
  await expect(fleet.locator(".need")).toHaveCount(2);
  await expect(fleet.locator(".need").nth(0)).toContainText("Which currency?");
  await expect(fleet.locator(".need").nth(0).getByRole("button", {name: "Send"})).toBeVisible();
  await fleet.locator(".need").nth(1).getByRole("button", {name: "Dismiss"}).click();
  await expect(fleet.locator(".need")).toHaveCount(1);
  await expect(fleet).toHaveTitle(/^\(1\)/);
  await server.create({id: "g", prompt: "Break too", title: "Break too"});
  await server.status("g", "failed", {message: "broke", details: {error: "it broke, too"}});
  // News of the inbox comes by itself.
  await fleet.locator(".need", {hasText: "it broke, too"}).getByRole("link", {name: "Look"}).click();
  await expect(fleet).toHaveURL(/task=g/);
});

test("an approval is answered by keyboard alone", async ({server, fleet}) => {
  await server.create({id: "t", prompt: "Publish", title: "Publish"});
  await server.post("t", [asks("a1", "git push")]);
  const approve = fleet.locator(".need").getByRole("button", {name: "Approve"});
  await expect(approve).toBeVisible();
  for (let press = 0; press < 30 && !(await approve.evaluate((button) => button === document.activeElement)); ++press) await fleet.keyboard.press("Tab");
  await expect(approve).toBeFocused();
  await fleet.keyboard.press("Enter");
  await expect(fleet.locator(".need").getByRole("status")).toContainText("Approved:");
});

test("more than three needs: the others are one line each, and open", async ({server, fleet}) => {
  for (let n = 0; n < 5; ++n) {
    await server.create({id: `t${n}`, prompt: `Publish ${n}`, title: `Publish ${n}`});
    await server.post(`t${n}`, [asks(`a${n}`, `git push ${n}`)]);
  }
  await expect(fleet.locator(".need")).toHaveCount(5);
  await expect(fleet.locator(".need pre.command")).toHaveCount(3);
  await fleet.locator(".need").last().getByRole("button", {name: "open"}).click();
  await expect(fleet.locator(".need pre.command").last()).toHaveText("git push 4");
  // Whatever needs somebody, the fleet itself is still seen.
  await expect(fleet.locator(".fleet-row[data-task]").first()).toBeInViewport();
});
