// Tests of chats: a server with a scripted model, and its files below a root of their own.
import type {Locator, Page} from "@playwright/test";
import {mkdirSync, mkdtempSync, rmSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join} from "node:path";
import {expect, test as base} from "./fixture";
import {FakeModel} from "./model";
import {type Json, Server} from "./server";

export const test = base.extend<{model: FakeModel; contextTokens: number; modelName: string; entry: Json; tools: boolean; limits: Json; files: string}>({
  contextTokens: [8192, {option: true}],
  modelName: ["fake-1", {option: true}],
  entry: [{}, {option: true}],  // of the model in the configuration
  tools: [false, {option: true}],  // the server's own
  limits: [{}, {option: true}],    // more of the chat's configuration
  files: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), "shepherd-files-"));
    mkdirSync(join(folder, "sub"));
    writeFileSync(join(folder, "notes.txt"), "Remember the milk.\n");
    await use(folder);
    rmSync(folder, {recursive: true, force: true});
  },
  model: async ({contextTokens, modelName}, use) => {
    const model = await new FakeModel(contextTokens, modelName).start();
    await use(model);
    await model.stop();
  },
  server: async ({model, files, entry, tools, limits}, use) => {
    const server = await new Server(0, [], model.config({...(tools ? {tools_root: files} : {}), system: "You are terse.", ...limits}, entry)).start();
    await use(server);
    await server.remove();
  },
});
export {expect};

export const prompt = (page: Page): Locator => page.getByLabel("Prompt", {exact: true});
export async function ask(page: Page, words: string): Promise<void> {
  await prompt(page).fill(words);
  await prompt(page).press("Enter");
}
export const prompts = (page: Page): Locator => page.locator(".prompt:not(.waiting)");
export const answers = (page: Page): Locator => page.locator(".answer:not(.writing)");
export const chatOf = (page: Page): string => new URL(page.url()).searchParams.get("chat") ?? "";

// Begins a chat with this prompt and waits until the log has it.
export async function begin(page: Page, server: Server, words: string): Promise<string> {
  await page.goto(server.page + "/?view=chat");
  await ask(page, words);
  await page.waitForURL(/\?chat=/);
  await expect(prompts(page).first()).toContainText(words.split("\n")[0]!);
  return chatOf(page);
}

export async function messages(server: Server, id: string): Promise<[string, string][]> {
  const {events} = await server.call("GET", `/api/v1/tasks/${id}/events?types=message&limit=1000`);
  return (events as {data: Json}[]).map((each) => [String(each.data["role"]), String(each.data["content"])]);
}
