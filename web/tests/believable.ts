// Realistic work as a producer would post it.
import type {Json, Server} from "./server";

let calls = 0;
export function tool(name: string, input: Json, output: string, more: {ms?: number; failed?: boolean; summary?: string; parent?: string; detail?: Json} = {}): Json[] {
  const callID = `call-${++calls}`;
  const parent = more.parent ? {parentCallID: more.parent} : {};
  return [
    {type: "tool_call", tool: name, input, callID, summary: more.summary ?? `Using ${name}`, ...parent, ...(more.detail ? {detail: more.detail} : {})},
    {type: "tool_result", tool: name, callID, durationMS: more.ms ?? 120, summary: output.split("\n")[0] ?? "", ...parent,
      output: {success: !more.failed, summary: output}},
  ];
}

const e = "\u001b";
export function story(): Json[] {
  const agent = "call-agent-1";
  return [
    {type: "session_start", summary: "Session started with claude-opus-5-5", sessionID: "3edac694-928b-4d67-9312-ef911a530de8", data: {model: "claude-opus-5-5", tools: ["Bash", "Edit"], cwd: "/workspace/shop", permissionMode: "default"}},
    {type: "message", summary: "The checkout test fails since yesterday. Find out why and fix it.", data: {role: "user", content: "The checkout test fails since yesterday. Find out why and fix it."}},
    {type: "thinking", summary: "First the failing test itself.", data: {kind: "reasoning", text: "First the failing test itself. If it fails here as well, the cause is in the code and not in the machine."}},
    {type: "thinking", summary: "I will run the test first.", data: {kind: "text", text: "I will run the failing test first, then look at what changed around it."}},
    ...tool("Bash", {command: "npm test -- checkout", description: "Run the checkout tests"},
      `${e}[1mcheckout${e}[0m\n  ${e}[32m✓${e}[0m adds an item (12 ms)\n  ${e}[32m✓${e}[0m removes an item (8 ms)\n  ${e}[31m✕ applies the discount once${e}[0m (31 ms)\n\n    Expected: ${e}[32m90${e}[0m\n    Received: ${e}[31m81${e}[0m`, {ms: 4210, failed: true, summary: "Running npm test -- checkout"}),
    ...tool("Grep", {pattern: "applyDiscount", path: "src"}, "src/cart.ts:41:  applyDiscount(total: number)\nsrc/checkout.ts:18:    total = cart.applyDiscount(total)\nsrc/checkout.ts:27:    return cart.applyDiscount(total)", {ms: 38, summary: "Searching applyDiscount"}),
    ...tool("Read", {file_path: "/workspace/shop/src/checkout.ts"}, "12\texport function totalOf(cart: Cart): number {\n13\t  let total = sum(cart.items);\n14\t  if (cart.discount) {\n18\t    total = cart.applyDiscount(total);\n19\t  }\n27\t  return cart.applyDiscount(total);\n28\t}", {ms: 6, summary: "Reading src/checkout.ts"}),
    {type: "thinking", summary: "The discount is applied twice.", data: {kind: "text", text: "The discount is applied twice: once in the branch at line 18 and again on return. I remove the second one."}},
    ...tool("Edit", {file_path: "/workspace/shop/src/checkout.ts", oldLength: 36, newLength: 13}, "The file has been updated.", {ms: 14, summary: "Editing src/checkout.ts",
      detail: {input: {file_path: "/workspace/shop/src/checkout.ts", old_string: "    total = cart.applyDiscount(total);\n  }\n\n  // the customer pays this\n  return cart.applyDiscount(total);\n}", new_string: "    total = cart.applyDiscount(total);\n  }\n\n  // the customer pays this\n  return total;\n}"}}}),
    {type: "tool_call", tool: "Agent", callID: agent, summary: "Delegating: look for the same mistake elsewhere", input: {description: "Look for the same mistake elsewhere", subagent_type: "general-purpose"}},
    {type: "thinking", parentCallID: agent, summary: "Looking through the other totals.", data: {kind: "text", text: "Looking through the other totals."}},
    ...tool("Glob", {pattern: "src/**/*total*.ts"}, "src/invoice_total.ts\nsrc/report_total.ts", {parent: agent, ms: 12, summary: "Listing totals"}),
    {type: "tool_result", tool: "Agent", callID: agent, durationMS: 2300, summary: "No other place applies it twice.", output: {success: true, summary: "No other place applies it twice."}},
    {type: "finding", summary: "Discounts were applied twice for carts with more than one item", data: {severity: "high", confidence: 0.9, category: "correctness", file: "src/checkout.ts", line: 27}},
    ...tool("Bash", {command: "npm test", description: "Run all tests"}, `${e}[32m✓${e}[0m 148 tests passed\n${e}[2mTime: 12.4 s${e}[0m`, {ms: 12_431, summary: "Running npm test"}),
    {type: "error", summary: "The model's API answered 529 (overloaded); retry 1 of 10 in 0.6 s", data: {code: "api_retry", fatal: false, recoverable: true}},
    {type: "usage", summary: "Turn 1 ended; $0.4213 so far", sessionID: "3edac694-928b-4d67-9312-ef911a530de8", data: {costUSD: 0.4213, inputTokens: 1840, outputTokens: 5210, cacheReadTokens: 412_800, cacheWriteTokens: 20_310, apiCalls: 9, toolUses: 7, turns: 1}},
  ];
}

export const result: Json = {type: "result", summary: "2 files changed on fix/discount", data: {branch: "fix/discount", prURL: "https://github.com/example/shop/pull/412", commits: ["Apply the discount once"], commitCount: 1, files: ["src/checkout.ts", "test/checkout.test.ts"], filesChanged: 2, insertions: 14, deletions: 3}};

export function asks(approvalID: string, command: string, more: Json = {}): Json {
  return {type: "approval", tool: "Bash", summary: `Needs approval: Running ${command}`, callID: `ask-${approvalID}`,
    data: {approvalID, state: "pending", kind: "permission", tool: "Bash", input: {command, description: "Publish the fix"}, remember: [`Bash(${command})`], ...more}};
}

// Spreads the events over the last `minutes`, unevenly.
export function over(minutes: number, events: Json[]): Json[] {
  const steps = events.map((_, index) => 1 + (index * 7) % 5 + (index % 6 === 5 ? 8 : 0));
  const all = steps.reduce((sum, step) => sum + step, 0);
  const begin = Date.now() - minutes * 60_000;
  let passed = 0;
  return events.map((event, index) => ({...event, timestamp: new Date(begin + ((passed += steps[index]!) / all) * minutes * 60_000).toISOString()}));
}

export async function believableFleet(server: Server): Promise<void> {
  await server.create({id: "fix-checkout", prompt: "The checkout test fails since yesterday. Find out why and fix it.", title: "Fix the checkout discount", model: "claude-opus-5-5", labels: {team: "shop"}, workflowID: "nightly-fixes"});
  await server.post("fix-checkout", over(9, [...story(), result, asks("a1", "git push origin fix/discount")]));
  await server.create({id: "docs-cli", prompt: "Bring the CLI reference up to date", title: "Bring the CLI reference up to date", model: "claude-sonnet-5-5", workflowID: "docs"});
  await server.post("docs-cli", over(3, story().slice(0, 8)));
  await server.create({id: "migrate-db", prompt: "Write the migration to store money as integers", title: "Store money as integers", model: "claude-opus-5-5"});
  await server.post("migrate-db", [...story().slice(0, 6), {type: "status", summary: "Which currency is the default?", data: {state: "waiting_for_input"}}]);
  await server.create({id: "bump-deps", prompt: "Update the dependencies and fix what breaks", title: "Update the dependencies", model: "gpt-5-codex"});
  await server.post("bump-deps", story());
  await server.status("bump-deps", "completed", {message: "Everything is up to date", details: {prURL: "https://github.com/example/shop/pull/409"}});
  await server.create({id: "flaky-e2e", prompt: "Find out why the e2e test is flaky", title: "Find the flaky e2e test"});
  await server.post("flaky-e2e", story().slice(0, 12));
  await server.status("flaky-e2e", "failed", {message: "The agent gave up", details: {error: "Reached maximum number of turns (30)"}});
  await server.create({id: "queue-1", prompt: "Translate the error messages to German", title: "Translate the error messages", agent: "claude"});
}
