// Markdown as elements. The tree comes from model/markdown.ts; text goes only into text nodes, links only to http and
// https, and nothing is loaded.
import {Component, type ComponentChildren} from "preact";
import {useMemo} from "preact/hooks";
import {prosePieces} from "../model/hidden";
import {parseMarkdown, type Block, type TopBlock} from "../model/markdown";
import {parseInline, type Inline} from "../model/markdown_inline";
import {CopyButton} from "./copy";
import {safeLink} from "./outcome";
import {Words} from "./text";

function plain(inlines: Inline[]): string {
  return inlines.map((each) => (each.kind === "text" || each.kind === "code" ? each.text : each.kind === "break" ? " " : plain(each.children))).join("");
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return "";
  }
}

// The address's host is beside a link whose words do not name the address, so that they cannot hide it.
function Link({url, children}: {url: string; children: Inline[]}) {
  const words = plain(children);
  const link = safeLink(url);
  const host = hostOf(url);
  if (!link || !host) return <><Words text={words} />{url && url !== words && <span class="quiet"> (<Words text={url} />)</span>}</>;
  return (
    <><a href={link} target="_blank" rel="noopener noreferrer"><Words text={words || url} /></a>
      {words !== url && <span class="link-host"> (<Words text={host} />)</span>}</>
  );
}

function Inlines({parts}: {parts: Inline[]}): ComponentChildren {
  return parts.map((part, index) => {
    switch (part.kind) {
      case "text": return <Words key={index} text={part.text} />;
      case "code": return <code key={index}><Words text={part.text} /></code>;
      case "break": return <br key={index} />;
      case "strong": return <strong key={index}><Inlines parts={part.children} /></strong>;
      case "em": return <em key={index}><Inlines parts={part.children} /></em>;
      case "strike": return <s key={index}><Inlines parts={part.children} /></s>;
      case "link": return <Link key={index} url={part.url} children={part.children} />;
    }
  });
}

function Line({text}: {text: string}) {
  const parts = useMemo(() => parseInline(text), [text]);
  return <Inlines parts={parts} />;
}

// What is copied is what is shown: an invisible character is its escape in both.
const copied = (text: string) => prosePieces(text).map((piece) => piece.text).join("");

function Code({language, text, open}: {language: string; text: string; open: boolean}) {
  return (
    <figure class="code-block">
      <figcaption><span class="quiet">{language ? <Words text={language} /> : "code"}</span>{!open && <CopyButton text={() => copied(text)} />}</figcaption>
      <pre tabIndex={0}><code><Words text={text} /></code></pre>
    </figure>
  );
}

// Answers are below the page's own heading. The levels that an answer uses follow each other without a gap.
function Heading({level, text, levels}: {level: number; text: string; levels: string}) {
  const Tag = `h${Math.min(6, 2 + Math.max(0, levels.indexOf(String(level))))}` as "h2";
  return <Tag class={`md-h md-h${level}`}><Line text={text} /></Tag>;
}

function List({block, levels}: {block: Block & {kind: "list"}; levels: string}) {
  const items = block.items.map((item, index) => (
    <li key={index} class={item.checked === undefined ? undefined : "task-item"}>
      {item.checked !== undefined && <span class="tick" role="img" aria-label={item.checked ? "done" : "open"}>{item.checked ? "☑" : "☐"}</span>}
      {item.blocks.map((each, at) => (each.kind === "paragraph" && !block.loose ? <Line key={at} text={each.text} /> : <One key={at} block={each} levels={levels} />))}
    </li>));
  return block.ordered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>;
}

function Table({block}: {block: Block & {kind: "table"}}) {
  const style = (index: number) => (block.align[index] ? {textAlign: block.align[index]} : undefined);
  return (
    <div class="md-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead><tr>{block.head.map((cell, index) => <th key={index} scope="col" style={style(index)}><Line text={cell} /></th>)}</tr></thead>
        <tbody>{block.rows.map((row, at) => <tr key={at}>{row.map((cell, index) => <td key={index} style={style(index)}><Line text={cell} /></td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

// `levels`: the levels of headings in the whole text, ascending, as digits.
function One({block, levels}: {block: Block; levels: string}): ComponentChildren {
  switch (block.kind) {
    case "paragraph": return <p dir="auto"><Line text={block.text} /></p>;
    case "heading": return <Heading level={block.level} text={block.text} levels={levels} />;
    case "code": return <Code language={block.language} text={block.text} open={block.open} />;
    case "quote": return <blockquote>{block.blocks.map((each, index) => <One key={index} block={each} levels={levels} />)}</blockquote>;
    case "list": return <List block={block} levels={levels} />;
    case "table": return <Table block={block} />;
    case "rule": return <hr />;
  }
}

// A block whose source is the same is not rendered again: while an answer streams, only its last block is.
interface TopProps {
  top: TopBlock;
  levels: string;
}
class Top extends Component<TopProps> {
  override shouldComponentUpdate(next: TopProps): boolean {
    return next.top.source !== this.props.top.source || next.levels !== this.props.levels;
  }
  override render() {
    return <One block={this.props.top.block} levels={this.props.levels} />;
  }
}

export function Markdown({text}: {text: string}) {
  const blocks = useMemo(() => parseMarkdown(text), [text]);
  const levels = useMemo(() => [...new Set(blocks.flatMap(({block}) => (block.kind === "heading" ? [block.level] : [])))].sort().join(""), [blocks]);
  return <div class="markdown">{blocks.map((top, index) => <Top key={index} top={top} levels={levels} />)}</div>;
}
