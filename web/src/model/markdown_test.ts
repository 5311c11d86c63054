import {describe, expect, it} from "vitest";
import {parseMarkdown, type Block} from "./markdown";
import {kMostDepth, parseInline, type Inline} from "./markdown_inline";

const blocks = (text: string) => parseMarkdown(text).map((each) => each.block);
const text = (words: string): Inline => ({kind: "text", text: words});
// All characters that a reader gets, whatever the markup.
const wordsOf = (parts: Inline[]): string => parts.map((each) => (each.kind === "text" || each.kind === "code" ? each.text : each.kind === "break" ? "\n" : wordsOf(each.children))).join("");
const depthOf = (parts: Inline[]): number => parts.reduce((most, each) => Math.max(most, "children" in each ? 1 + depthOf(each.children) : 0), 0);
function nesting(block: Block): number {
  if (block.kind === "quote") return 1 + Math.max(0, ...block.blocks.map(nesting));
  if (block.kind === "list") return 1 + Math.max(0, ...block.items.flatMap((item) => item.blocks.map(nesting)));
  return 0;
}

describe("blocks", () => {
  it("are told apart as models write them", () => {
    const found = blocks("# Title\nFirst line\nsecond line\n\n- one\n- two\n  - inner\n\n1. a\n2. b\n\n> quoted\n> more\n\n---\n\n```py\nprint(1)\n\n# no heading\n```\nAfter");
    expect(found.map((each) => each.kind)).toEqual(["heading", "paragraph", "list", "list", "quote", "rule", "code", "paragraph"]);
    expect(found[0]).toEqual({kind: "heading", level: 1, text: "Title"});
    expect(found[1]).toEqual({kind: "paragraph", text: "First line\nsecond line"});
    expect(found[6]).toEqual({kind: "code", language: "py", text: "print(1)\n\n# no heading", open: false});
    const list = found[2] as Block & {kind: "list"};
    expect(list.items.map((item) => item.blocks.map((each) => each.kind))).toEqual([["paragraph"], ["paragraph", "list"]]);
    expect(found[3]).toMatchObject({ordered: true, start: 1, loose: false, items: [{}, {}]});
  });

  it("begin without a blank line before them, and not inside words", () => {
    expect(blocks("Here:\n- one\n- two").map((each) => each.kind)).toEqual(["paragraph", "list"]);
    expect(blocks("Here:\n```\nx\n```").map((each) => each.kind)).toEqual(["paragraph", "code"]);
    expect(blocks("in the year\n1984. It was").map((each) => each.kind)).toEqual(["paragraph"]);
    expect(blocks("#hashtag").map((each) => each.kind)).toEqual(["paragraph"]);
    expect(blocks("**bold** start").map((each) => each.kind)).toEqual(["paragraph"]);
  });

  it("keep code of an answer that is still being written", () => {
    expect(blocks("See:\n```ts\nlet a = 1;")).toEqual([{kind: "paragraph", text: "See:"}, {kind: "code", language: "ts", text: "let a = 1;", open: true}]);
    expect(blocks("```")).toEqual([{kind: "code", language: "", text: "", open: true}]);
    expect(blocks("~~~~\n```\n~~~\n~~~~")).toEqual([{kind: "code", language: "", text: "```\n~~~", open: false}]);
  });

  it("in lists: steps with code, tasks, loose items, numbers that go on", () => {
    const [list] = blocks("3. Run:\n   ```sh\n   make\n   ```\n4. Then\n\n   more of it\n5. Done") as (Block & {kind: "list"})[];
    expect(list).toMatchObject({ordered: true, start: 3, loose: true});
    expect(list!.items.map((item) => item.blocks.map((each) => each.kind))).toEqual([["paragraph", "code"], ["paragraph", "paragraph"], ["paragraph"]]);
    expect(list!.items[0]!.blocks[1]).toMatchObject({text: "make"});
    expect((blocks("- [x] done\n- [ ] open\n- plain")[0] as Block & {kind: "list"}).items.map((item) => item.checked)).toEqual([true, false, undefined]);
    expect(blocks("1. one\n  - inner of two spaces\n2. two")).toHaveLength(1);
    expect(blocks("- one\n\nA paragraph").map((each) => each.kind)).toEqual(["list", "paragraph"]);
    expect(blocks("- one\nlazy\n- two")).toMatchObject([{items: [{blocks: [{text: "one\nlazy"}]}, {}]}]);
    expect(blocks("- one\n* other").map((each) => each.kind)).toEqual(["list", "list"]);
  });

  it("tables", () => {
    expect(blocks("| a | b |\n|:--|--:|\n| 1 | x \\| y |\n| 2 |\n\nafter")).toEqual([
      {kind: "table", align: ["left", "right"], head: ["a", "b"], rows: [["1", "x | y"], ["2"]]}, {kind: "paragraph", text: "after"}]);
    expect(blocks("a | b\n--- | ---\n1 | 2")[0]).toMatchObject({kind: "table", rows: [["1", "2"]]});
    expect(blocks("a | b\nno rule")[0]).toMatchObject({kind: "paragraph"});
    expect(blocks(`${"|a".repeat(100)}|\n${"|-".repeat(100)}|`)[0]).toMatchObject({kind: "paragraph"});
  });

  it("say which part of the text they are", () => {
    const once = parseMarkdown("one\n\ntwo\n\n```\nthree");
    const later = parseMarkdown("one\n\ntwo\n\n```\nthree\nfour");
    expect(once.map((each) => each.source)).toEqual(["one", "two", "```\nthree"]);
    expect(later.slice(0, 2)).toEqual(once.slice(0, 2));
  });
});

describe("inline", () => {
  it("marks", () => {
    expect(parseInline("a **b** *c* __d__ _e_ ~~f~~")).toEqual([text("a "), {kind: "strong", children: [text("b")]}, text(" "), {kind: "em", children: [text("c")]}, text(" "),
      {kind: "strong", children: [text("d")]}, text(" "), {kind: "em", children: [text("e")]}, text(" "), {kind: "strike", children: [text("f")]}]);
    expect(parseInline("***both***")).toEqual([{kind: "strong", children: [{kind: "em", children: [text("both")]}]}]);
    expect(parseInline("**a *b* c**")).toEqual([{kind: "strong", children: [text("a "), {kind: "em", children: [text("b")]}, text(" c")]}]);
  });
  it("leaves alone what only looks like one", () => {
    for (const plain of ["snake_case_name", "2 * 3 * 4", "a ** b", "**open", "~one~", "*", "_", "****", "5*", "[x]", "[x] (y)", "a ]( b", "<b>html</b>", "&lt;"]) expect(wordsOf(parseInline(plain)), plain).toBe(plain);
    expect(parseInline("snake_case_name")).toEqual([text("snake_case_name")]);
  });
  it("code is not looked into", () => {
    expect(parseInline("`**x**` and ``a ` b`` and ` `")).toEqual([{kind: "code", text: "**x**"}, text(" and "), {kind: "code", text: "a ` b"}, text(" and "), {kind: "code", text: " "}]);
    expect(parseInline("`open")).toEqual([text("`open")]);
  });
  it("escapes and line ends", () => {
    expect(parseInline("\\*a\\* \\q")).toEqual([text("*a* \\q")]);
    expect(parseInline("one  \ntwo\\\nthree")).toEqual([text("one"), {kind: "break"}, text("two"), {kind: "break"}, text("three")]);
  });
  it("links", () => {
    expect(parseInline("[a *b*](https://x.example/p_(q) \"title\")!")).toEqual([{kind: "link", url: "https://x.example/p_(q)", children: [text("a "), {kind: "em", children: [text("b")]}]}, text("!")]);
    expect(parseInline("see https://x.example/a_b_c, and <https://y.example>.")).toEqual([text("see "), {kind: "link", url: "https://x.example/a_b_c", children: [text("https://x.example/a_b_c")]}, text(", and "),
      {kind: "link", url: "https://y.example", children: [text("https://y.example")]}, text(".")]);
    expect(parseInline("(https://x.example/a)")).toEqual([text("("), {kind: "link", url: "https://x.example/a", children: [text("https://x.example/a")]}, text(")")]);
    expect(parseInline("![alt](https://x.example/i.png)")).toEqual([{kind: "link", url: "https://x.example/i.png", children: [text("image: "), text("alt")]}]);
    expect(parseInline("[](javascript:alert(1))")).toEqual([{kind: "link", url: "javascript:alert(1)", children: []}]);  // the view makes no link of it
  });
});

// Text that was made to be slow or deep.
const kHostile: Record<string, string> = {
  stars: "*".repeat(50_000), "stars and letters": "*a".repeat(40_000), "open marks": "**a ".repeat(30_000), "marks that close wrongly": "*a **b _c ~~d ".repeat(8_000), "marks in each other": "*a_".repeat(30_000),
  brackets: "[".repeat(80_000), "closed brackets": "[a](".repeat(30_000), "brackets and addresses": "](".repeat(40_000), "long addresses": "](" + "a".repeat(100_000), "many long addresses": `](${"a".repeat(1_990)}`.repeat(50),
  backticks: "`".repeat(100_000), "backticks of all lengths": Array.from({length: 400}, (_, n) => "`".repeat(n + 1)).join(" "), "code that never closes": "`a``b```c".repeat(12_000), escapes: "\\".repeat(100_000),
  quotes: `${">".repeat(50_000)} x`, "nested quotes": Array.from({length: 300}, (_, n) => `${"> ".repeat(n)}x`).join("\n"), "nested lists": Array.from({length: 400}, (_, n) => `${"  ".repeat(n)}- x`).join("\n"),
  bullets: "- ".repeat(50_000), "many items": "- a\n".repeat(25_000), "blank items": "-\n\n".repeat(25_000), fences: "```\n".repeat(25_000), "open fence": `\`\`\`${"x\n".repeat(50_000)}`,
  "spaces": `${" ".repeat(100_000)}x`, "spaces at the end": `x${" ".repeat(100_000)}`, heading: `# ${"# ".repeat(50_000)}`, rules: "- ".repeat(40_000) + "x", pipes: `${"|".repeat(50_000)}\n${"|-".repeat(25_000)}`,
  table: `|a|b|\n|-|-|\n${"|".repeat(100_000)}`, "rows": `|a|b|\n|-|-|\n${"|1|2|\n".repeat(15_000)}`, schemes: "http".repeat(25_000), addresses: "https://".repeat(12_000), angles: "<https://".repeat(12_000), tabs: "\t".repeat(100_000), returns: "\r".repeat(100_000),
};

describe("hostile text", () => {
  for (const [name, whole] of Object.entries(kHostile)) {
    it(`is parsed in linear time: ${name}`, () => {
      let deepest = 0;
      const inlineOf = (block: Block): void => {
        if (block.kind === "paragraph" || block.kind === "heading") deepest = Math.max(deepest, depthOf(parseInline(block.text)));
        if (block.kind === "quote") block.blocks.forEach(inlineOf);
        if (block.kind === "list") block.items.forEach((item) => item.blocks.forEach(inlineOf));
        if (block.kind === "table") block.rows.forEach((row) => row.forEach((cell) => parseInline(cell)));
      };
      const parse = (part: string) => {
        const begin = process.cpuUsage();  // not the clock's time, which a busy machine stretches
        blocks(part).forEach(inlineOf);
        parseInline(part);
        return process.cpuUsage(begin).user / 1000;
      };
      parse(whole.slice(0, 2_000));
      // Ten times the text takes about ten times as long; a square would be a hundred times. The collector of garbage
      // may need a second look.
      let ratio = Infinity;
      for (let look = 0; look < 5 && ratio > 40; ++look) ratio = Math.min(ratio, parse(whole) / Math.max(2, parse(whole.slice(0, whole.length / 10))));
      expect(ratio).toBeLessThan(40);
      expect(deepest).toBeLessThanOrEqual(kMostDepth + 1);
      expect(Math.max(0, ...blocks(whole).slice(0, 100).map(nesting))).toBeLessThanOrEqual(9);
    }, 60_000);
  }

  it("loses no character of what is not markup", () => {
    for (const plain of ["<script>alert(1)</script>", "a\u202eb\u0000c", "</div>", "{{x}}", "javascript:alert(1)"]) expect(wordsOf(parseInline(plain))).toBe(plain);
  });
});
