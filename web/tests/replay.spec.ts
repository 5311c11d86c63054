import {story} from "./believable";
import {expect, test} from "./fixture";

test.beforeEach(async ({server}) => {
  await server.create({id: "t", prompt: "Fix it", title: "Fix it"});
  for (const event of story()) await server.post("t", [event]);
  await server.status("t", "completed", {message: "Done"});
});

test("a link with a moment opens exactly there, with the state of that moment", async ({server, fleet}) => {
  await fleet.goto(server.url + "/?task=t&at=8");
  await expect(fleet.locator(".step.chosen")).toContainText("applyDiscount");
  await expect(fleet.locator(".step.chosen")).toBeInViewport();
  const side = fleet.locator(".side");
  await expect(side.locator(".at-moment")).toContainText("at event 8");
  await expect(side.locator(".facts .state")).toHaveText("running");
  await expect(side.locator("tbody")).toHaveText(/Bash\s*1\s*1.*Grep\s*1/);
  await expect(side).toContainText("nothing reported yet");
  await fleet.goto(server.url + "/?task=t");
  await expect(side.locator(".facts .state")).toHaveText("completed");
  await expect(side).toContainText("$0.42");
});

test("step, jump, play to the end, and back to now", async ({server, fleet}) => {
  await fleet.goto(server.url + "/?task=t&at=8");
  await expect(fleet.locator(".step.chosen")).toBeVisible();
  await fleet.keyboard.press("]");
  await expect(fleet).toHaveURL(/at=9/);
  await fleet.keyboard.press("[");
  await expect(fleet).toHaveURL(/at=8/);
  const bar = fleet.getByRole("slider");
  await bar.focus();
  await fleet.keyboard.press("Home");
  await expect(fleet).toHaveURL(/at=1$/);
  await fleet.getByLabel("Speed").selectOption("64");
  await fleet.getByRole("button", {name: "Play"}).click();
  await expect(fleet).toHaveURL(/at=24$/);
  await expect(fleet.getByRole("button", {name: "Play"})).toBeVisible();
  await fleet.getByRole("button", {name: "Live"}).click();
  await expect(fleet).not.toHaveURL(/at=/);
});

test("the bar shows density and marks, and a click goes there", async ({server, fleet}) => {
  await fleet.goto(server.url + "/?task=t");
  const bar = fleet.getByRole("slider");
  await expect(bar.locator("rect").first()).toBeAttached();
  await expect(bar.locator(".mark-error")).toHaveCount(1);
  const box = (await bar.boundingBox())!;
  await fleet.mouse.click(box.x + 3, box.y + box.height / 2);
  await expect(fleet).toHaveURL(/at=1$/);
});
