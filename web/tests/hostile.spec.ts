// Agent output is untrusted: the page shows it only as text.
import {expect, test} from "./fixture";
import {tool} from "./believable";

const e = "\u001b";
const kHostile = [
  "<script>window.owned=1</script>", "<img src=x onerror=\"window.owned=1\">", "<svg onload=window.owned=1>",
  "\"><iframe src=javascript:window.owned=1>", "javascript:window.owned=1", "{{constructor.constructor('window.owned=1')()}}",
  `${e}]0;stolen title\u0007after`, `${e}]8;;javascript:window.owned=1${e}\\click${e}]8;;${e}\\`, `${e}[2J${e}[Hcleared`,
  "invoice\u202egpj.exe", "a\u200bb\u2066c", "</textarea></pre></style><style>*{display:none}</style>",
];

test("HTML, script, escapes and direction tricks stay text everywhere", async ({server, fleet}) => {
  const text = kHostile.join("\n");
  await server.create({id: "evil", prompt: text, title: kHostile.join(" "), model: `<b>model</b>${e}[31m\u202ered`, labels: {x: "<i>label</i>"}});
  await server.post("evil", [
    {type: "session_start", summary: text, sessionID: "<script>1</script>", data: {model: `<u>m</u>${e}[31m\u202ered`, cwd: "/<b>"}},
    {type: "thinking", summary: text, data: {kind: "text", text}}, {type: "output", summary: text, data: {text}},
    {type: "message", summary: text, data: {role: "user", content: text}},
    ...tool("Bash", {command: text, description: text}, text), ...tool("Read", {file_path: kHostile[9]}, text), ...tool("<b>Tool</b>", {"<i>key</i>": text}, text, {failed: true}),
    ...tool("Edit", {file_path: "/x", oldLength: 1, newLength: 1}, text, {detail: {input: {file_path: "/x", old_string: text, new_string: text + "!"}}}),
    {type: "finding", summary: text, data: {severity: "<b>high</b>", category: text}}, {type: "error", summary: text, data: {code: "<b>"}},
    {type: "log", summary: text, data: {stream: "stdout", line: text}}, {type: "<b>unknown</b>", summary: text},
    {type: "approval", tool: "Bash", summary: text, data: {approvalID: "a", state: "pending", kind: "permission", input: {command: text}, remember: [text]}},
    {type: "result", summary: text, data: {prURL: "javascript:window.owned=1", branch: text, files: [text], filesChanged: 1}},
  ]);
  await fleet.goto(server.url + "/?task=evil");
  await fleet.locator(".step").first().waitFor();
  for (const place of ["/?task=evil&at=1", "/?task=evil&at=9", "/?task=evil", "/?view=search&q=owned", "/?view=metrics&by=model&from=-1h", "/"]) {
    await fleet.goto(server.url + place);
    await fleet.locator(".live-live").waitFor();
    await fleet.locator("[data-task=evil], .step, .results li, .legend").first().waitFor();
    const found = await fleet.evaluate(() => ({
      owned: (window as unknown as {owned?: number}).owned, title: document.title, body: document.body.innerText,
      made: document.querySelectorAll("main script, main iframe, main img, main style, main b > script, main [onerror], main [onload]").length,
      links: [...document.querySelectorAll("a")].filter((link) => !/^https?:$/.test(link.protocol)).length,
    }));
    expect(found.owned, place).toBeUndefined();
    expect(found.made, place).toBe(0);
    expect(found.links, place).toBe(0);
    for (const text of [found.body, found.title]) expect(text, place).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\u001b\u0007]/);
    if (place.includes("task=")) expect(found.body, place).toContain("\\u202e");
    if (place.includes("task=")) expect(found.title, place).toContain("invoice\\u202egpj.exe");
    // Text that a terminal would hide is readable in a decision.
    if (place === "/") expect(await fleet.locator(".approval pre.command").innerText()).toContain("\\u001b]0;stolen title\\u0007after");
  }
});

test("the policy forbids what the page does not need", async ({server}) => {
  const answer = await fetch(server.url + "/");
  const policy = answer.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  const html = await answer.text();
  expect(html).not.toMatch(/<script(?![^>]*\ssrc="\/assets\/)/);
  expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
});

test("all of the page together is less than 200 KiB on the wire", async ({server, fleet}) => {
  await fleet.goto(server.url + "/?view=metrics");  // the view that loads separately
  await fleet.locator(".metrics").waitFor();
  const files = await fleet.evaluate(() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
    .map((entry) => entry as PerformanceResourceTiming).filter((entry) => !entry.name.includes("/api/")).map((entry) => ({name: entry.name, bytes: entry.encodedBodySize})));
  expect(files.length).toBeGreaterThan(4);
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  console.log(`${files.length} files, ${(total / 1024).toFixed(1)} KiB compressed`);
  expect(total).toBeGreaterThan(10 * 1024);
  expect(total).toBeLessThan(200 * 1024);
});

test("files are compressed, kept for ever by their names, and asked for by tag", async ({server}) => {
  const html = await (await fetch(server.url + "/")).text();
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(html)![1]!;
  for (const [taken, coding] of [["br", "br"], ["gzip", "gzip"], ["gzip, deflate, br", "br"], ["gzip;q=0.5, br;q=0", "gzip"], ["identity", null], ["zstd", null]] as const) {
    const answer = await fetch(server.url + script, {headers: {"Accept-Encoding": taken}});
    expect(answer.headers.get("content-encoding"), taken).toBe(coding);
    expect(answer.headers.get("vary"), taken).toMatch(/accept-encoding/i);  // so that caches do not mix the codings
    expect(answer.headers.get("cache-control")).toContain("immutable");
    expect(await answer.text()).toContain("/api/v1");
  }
  const index = await fetch(server.url + "/");
  const again = await fetch(server.url + "/", {headers: {"If-None-Match": index.headers.get("etag")!}});
  expect(again.status).toBe(304);
  expect((await fetch(server.url + "/assets/no-such.js")).status).toBe(404);
});
