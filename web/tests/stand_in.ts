// For a server that lacks a route of the dashboard: answers as the API's contract says, made of what the server does
// have. A server that has the route is left alone, so the same tests then hold for it.
import type {Page} from "@playwright/test";
import type {Json, Server} from "./server";

async function lacks(server: Server, path: string): Promise<boolean> {
  const answer = await fetch(server.url + path, {headers: {Authorization: `Bearer ${server.token}`}});
  return answer.status === 404;
}

async function inboxOf(server: Server): Promise<Json> {
  const tasks = (await server.call("GET", "/api/v1/tasks?limit=1000")) as unknown as Json[];
  const items: Json[] = [];
  for (const task of tasks) {
    const status = task["status"] as Json;
    const base = {taskID: task["id"], title: task["title"], agent: task["agent"], model: task["model"], since: task["lastEventAt"] ?? task["createdAt"], sequence: task["lastSequence"]};
    for (const approval of (task["approvals"] as Json[] | undefined) ?? []) {
      const event = await server.call("GET", `/api/v1/tasks/${String(task["id"])}/events/${String(approval["sequence"])}`);
      const data = event["data"] as Json;
      items.push({...base, kind: approval["kind"] === "question" ? "question" : "approval", sequence: approval["sequence"], summary: approval["summary"],
        approval: {...approval, input: data["input"]}});
    }
    if (status["state"] === "waiting_for_input" && !((task["approvals"] as Json[] | undefined)?.length)) items.push({...base, kind: "waiting", summary: status["message"]});
    if (status["state"] === "failed") items.push({...base, kind: "failed", summary: status["error"]});
  }
  const rank = ["approval", "question", "waiting", "stalled", "failed"];
  items.sort((a, b) => rank.indexOf(String(a["kind"])) - rank.indexOf(String(b["kind"])));
  return {items, total: items.length};
}

async function timelineOf(server: Server, id: string): Promise<Json> {
  const page = (await server.call("GET", `/api/v1/tasks/${id}/events?limit=5000`)) as unknown as {events: Json[]; firstSequence: number; lastSequence: number};
  const size = Math.ceil(page.events.length / 60) || 1;
  const buckets: Json[] = [];
  for (let i = 0; i < page.events.length; i += size) {
    const part = page.events.slice(i, i + size);
    buckets.push({at: part[0]!["receivedAt"], first: part[0]!["sequence"], events: part.length, errors: part.filter((event) => event["type"] === "error").length});
  }
  const kinds = ["error", "approval", "command", "result"];
  return {from: page.events[0]?.["receivedAt"], to: page.events.at(-1)?.["receivedAt"], firstSequence: page.firstSequence, lastSequence: page.lastSequence, buckets,
    marks: page.events.filter((event) => kinds.includes(String(event["type"]))).map((event) => ({sequence: event["sequence"], at: event["receivedAt"], kind: event["type"]}))};
}

function statsOf(from: number, to: number, step: number, by: string): Json {
  const keys = by === "none" ? ["all"] : by === "agent" ? ["claude", "codex"] : ["claude-opus-5-5", "gpt-5-codex"];
  const times = Array.from({length: Math.min(1000, Math.floor((to - from) / step))}, (_, index) => from + index * step);
  const point = (at: number, index: number, key: number): Json => {
    const wave = 1 + Math.sin(index / 9 + key) + (index % 7 === 0 ? 1 : 0);
    return {at: new Date(at).toISOString(), costUSD: wave * 0.4, tokens: {input: wave * 900, output: wave * 2500, cacheRead: wave * 90_000, cacheWrite: wave * 4000},
      running: Math.round(wave * 2), events: Math.round(wave * 60), errors: index % 11 === 0 ? 2 : 0, toolCalls: Math.round(wave * 20)};
  };
  const series = keys.map((key, which) => ({key, points: times.map((at, index) => point(at, index, which))}));
  return {from: new Date(from).toISOString(), to: new Date(to).toISOString(), stepSeconds: step / 1000, by, series,
    tools: [{tool: "Bash", calls: 812, failures: 41, p50MS: 340, p95MS: 12_400}, {tool: "Read", calls: 640, failures: 3, p50MS: 6, p95MS: 40}, {tool: "Edit", calls: 230, failures: 9, p50MS: 14, p95MS: 61}, {tool: "Grep", calls: 190, failures: 0, p50MS: 38, p95MS: 210}],
    totals: {costUSD: 41.27, tokens: {input: 1, output: 1, cacheRead: 1, cacheWrite: 1}, running: 3, events: 8211, errors: 40, toolCalls: 1872, tasks: 37, failed: 2},
    now: {running: 2, waiting: 1, queued: 1, needsYou: 3}};
}

export async function standIn(page: Page, server: Server): Promise<string[]> {
  const stood: string[] = [];
  const json = (body: unknown) => ({contentType: "application/json", body: JSON.stringify(body)});
  if (await lacks(server, "/api/v1/inbox")) {
    stood.push("inbox");
    await page.route("**/api/v1/inbox", async (route) => route.fulfill(json(await inboxOf(server))));
    await page.route("**/api/v1/inbox/dismiss", (route) => route.fulfill({status: 204}));
  }
  if (await lacks(server, "/api/v1/stats")) {
    stood.push("stats");
    await page.route("**/api/v1/stats**", (route) => {
      const query = new URL(route.request().url()).searchParams;
      const to = Date.now();
      const given = query.get("from") ?? "-24h";
      const from = given.startsWith("-") ? to - Number.parseInt(given.slice(1), 10) * 3_600_000 : Date.parse(given);
      return route.fulfill(json(statsOf(from, to, Number(query.get("step") ?? 600) * 1000, query.get("by") ?? "none")));
    });
  }
  if (await lacks(server, "/api/v1/findings")) {
    stood.push("findings");
    await page.route("**/api/v1/findings**", (route) => route.fulfill(json({items: [
      {taskID: "fix-checkout", title: "Fix the checkout discount", sequence: 19, at: new Date().toISOString(), severity: "high", confidence: 0.9, category: "correctness", summary: "Discounts were applied twice for carts with more than one item"}]})));
  }
  stood.push("timeline");
  await page.route("**/timeline**", async (route) => {
    const answer = await route.fetch();
    if (answer.status() !== 404) return route.fulfill({response: answer});
    return route.fulfill(json(await timelineOf(server, new URL(route.request().url()).pathname.split("/")[4]!)));
  });
  return stood;
}
