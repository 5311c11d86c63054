// A tool call and its result as one card that suits the tool.
import type {ComponentChildren} from "preact";
import {useMemo} from "preact/hooks";
import type {JsonObject, TaskEvent} from "../api/types";
import {duration, middle} from "../model/format";
import {countOf, cutFrom, editsOf, isCut, numberOf, objectOf, objectsOf, outputOf, questionsOf, textOf} from "../model/shape";
import {useDetail} from "../state/details";
import {now} from "../state/now";
import {Clipped} from "./clipped";
import {Diff} from "./diff";
import {useRecord} from "./raw";
import {Steps} from "./steps";
import {Exact, Terminal, Words} from "./text";
import {LongText} from "./whole";

interface Parts {
  task: string;
  call: TaskEvent;
  result: TaskEvent | undefined;
  isOver: boolean;  // the task has ended, so a missing result never comes
  isAsked: boolean;  // a person must approve it and sees the input elsewhere
  isPast: boolean;  // the viewed moment is in the past, so time stands still
  asked?: ComponentChildren;  // the approval request and its outcome
}

const kPathTools = new Set(["Read", "Edit", "MultiEdit", "Write", "NotebookEdit"]);

// The lines that a Read requested, if it named some.
function lineRange(input: TaskEvent["input"]): string {
  const [offset, limit] = [countOf(input, "offset"), countOf(input, "limit")];
  if (!offset && !limit) return "";
  const first = Math.max(1, offset);
  return limit ? `, lines ${first} to ${first + limit - 1}` : `, from line ${first}`;
}

// The subject of the call, shown beside the tool's name.
export function subject(event: TaskEvent): string {
  const input = event.input;
  if (event.tool === "Bash") return textOf(input, "description");
  if (kPathTools.has(event.tool ?? "")) return (textOf(input, "file_path") || textOf(input, "notebook_path")) + lineRange(input);
  if (event.tool === "Grep" || event.tool === "Glob") return [textOf(input, "pattern"), textOf(input, "path")].filter(Boolean).join(" in ");
  if (event.tool === "WebFetch") return textOf(input, "url");
  if (event.tool === "WebSearch") return textOf(input, "query");
  return textOf(input, "description") || event.summary;
}

function Outcome({call, result, isOver, isAsked, isPast}: Omit<Parts, "task" | "asked">) {
  if (!result) {
    if (isAsked) return <span class="outcome">waits for you</span>;
    if (isPast) return <span class="outcome">was running</span>;
    if (isOver) return <span class="outcome">no result</span>;
    return <span class="outcome">running {duration(Math.max(0, now.value - Date.parse(call.receivedAt)))}</span>;
  }
  const {failed, denied} = outputOf(result);
  const took = result.durationMS === undefined ? "" : duration(result.durationMS);
  if (denied) return <span class="outcome denied">⊘ denied</span>;
  return <span class={failed ? "outcome bad" : "outcome"}>{failed ? "✕ failed" : "✓"} {took}</span>;
}

// The result's text; the rest is read on demand.
function Output({task, result, rows, terminal}: {task: string; result: TaskEvent; rows: number; terminal?: boolean}) {
  const short = (outputOf(result).summary || result.summary).replace(/\n+$/, "");
  if (!short) return null;
  return (
    <LongText task={task} event={result} what="output" short={short} rows={rows}>
      {(part) => <pre class="output">{terminal ? <Terminal text={part} /> : <Words text={part} />}</pre>}
    </LongText>
  );
}

// The call's input. If the log's is cut, the rest is read at once when `eager`, otherwise on demand.
function useInput(task: string, call: TaskEvent, eager: boolean): {input: JsonObject; state: string; retry: () => void; size: number | undefined} {
  const short = objectOf(call.input) ?? {};
  const cut = isCut(call, "input") || numberOf(short["oldLength"]) !== undefined || numberOf(short["newLength"]) !== undefined
    || objectsOf(short["edits"]).some((edit) => numberOf(edit["oldLength"]) !== undefined);
  const {detail, retry} = useDetail(task, call.sequence, cut && eager);
  const whole = detail.state === "there" ? objectOf(detail.value["input"]) : undefined;
  return {input: whole ?? short, state: !cut || whole ? "whole" : detail.state, retry, size: cutFrom(call, "input")};
}

function NotRead({state, retry}: {state: string; retry: () => void}) {
  if (state === "failed") return <p class="quiet">It could not be read. <button type="button" class="more" onClick={retry}>try again</button></p>;
  if (state === "unread") return <p class="clipped"><button type="button" class="more" onClick={retry}>show all of the input</button></p>;
  return state === "reading" ? <p class="quiet">reading …</p> : <p class="quiet">Nothing more is kept of this input.</p>;
}

// For Edit and Write the log has only lengths; the texts are in the event's detail.
function Change({task, call}: {task: string; call: TaskEvent}) {
  const {input, state, retry} = useInput(task, call, true);
  const texts = useMemo(() => editsOf(input), [input]);
  if (state !== "whole" && state !== "none" && state !== "there") return <NotRead state={state} retry={retry} />;
  if (texts.length === 0) {
    return <p class="quiet">{countOf(input, "oldLength")} characters became {countOf(input, "newLength")}; the texts are not kept.</p>;
  }
  return <>{texts.map((edit, index) => <Diff key={index} before={edit.before} after={edit.after} numbers={edit.isFile} />)}</>;
}

function Command({task, call}: {task: string; call: TaskEvent}) {
  const {input, state, retry} = useInput(task, call, false);
  return <><Clipped text={textOf(input, "command")} rows={12}>{(part) => <pre class="command"><Exact text={part} /></pre>}</Clipped>{state !== "whole" && <NotRead state={state} retry={retry} />}</>;
}

function AnyInput({task, call, show}: {task: string; call: TaskEvent; show: (input: JsonObject) => ComponentChildren}) {
  const {input, state, retry} = useInput(task, call, false);
  return <>{show(input)}{state !== "whole" && <NotRead state={state} retry={retry} />}</>;
}

function Hits({task, result}: {task: string; result: TaskEvent}) {
  const text = outputOf(result).summary;
  const hits = text ? text.split("\n").filter(Boolean).length : 0;
  return (
    <>
      <p class="quiet">{hits === 0 ? "no hits" : `${hits}${isCut(result, "output", text) ? "+" : ""} ${hits === 1 ? "line" : "lines"}`}</p>
      <Output task={task} result={result} rows={6} />
    </>
  );
}

function Body({task, call, result}: Parts) {
  const {failed, denied} = outputOf(result);
  const output = (rows: number, terminal = false) => result && <Output task={task} result={result} rows={failed ? 20 : rows} terminal={terminal} />;
  switch (call.tool) {
    case "Bash":
      return <><Command task={task} call={call} />{output(12, true)}</>;
    case "Edit":
    case "MultiEdit":
    case "Write":
      return <><Change task={task} call={call} />{(failed || denied) && output(20)}</>;
    case "Read":
      return failed ? <>{output(20)}</> : <>{output(4)}</>;
    case "Grep":
    case "Glob":
      return result ? <Hits task={task} result={result} /> : null;
    case "AskUserQuestion":
      return <><AnyInput task={task} call={call} show={(input) => <Questions input={input} />} />{output(8)}</>;
    case "TodoWrite":
      return <AnyInput task={task} call={call} show={(input) => <Steps steps={objectsOf(objectOf(input)?.["todos"])} />} />;
    default:
      return <><AnyInput task={task} call={call} show={(input) => <Input input={input} />} />{output(8)}</>;
  }
}

function Questions({input}: {input: unknown}) {
  return (
    <>{questionsOf(input).map(({question, options}, index) => (
      <div key={index} class="asked"><b><Words text={question} /></b>
        <ul>{options.map((option, each) => <li key={each}>○ <Words text={option.label} /> <span class="quiet"><Words text={option.description} /></span></li>)}</ul></div>))}
    </>
  );
}

const kMostMembers = 100;

export function Input({input}: {input: JsonObject | undefined}) {
  const entries = Object.entries(input ?? {});
  if (entries.length === 0) return null;
  return (
    <dl class="input">
      {entries.slice(0, kMostMembers).map(([name, value]) => (
        <div key={name}><dt><Exact text={name} /></dt><dd><Clipped text={typeof value === "string" ? value : JSON.stringify(value)} rows={8}>{(part) => <Exact text={part} />}</Clipped></dd></div>))}
      {entries.length > kMostMembers && <div><dt>…</dt><dd class="quiet">and {entries.length - kMostMembers} more, in the record</dd></div>}
    </dl>
  );
}

export function ToolCard(parts: Parts) {
  const {task, call, result} = parts;
  const {failed, denied} = outputOf(result);
  const {button, record} = useRecord(task, result && result !== call ? [call.sequence, result.sequence] : [call.sequence]);
  return (
    <div class={failed ? "card failed" : denied ? "card denied" : "card"}>
      <header>
        <span class="tool"><Words text={call.tool || "tool"} /></span>
        <span class="subject"><Words text={middle(subject(call), 110)} /></span>
        <Outcome {...parts} />
        {button}
      </header>
      {parts.asked}
      {!parts.isAsked && <Body {...parts} />}
      {record}
    </div>
  );
}
