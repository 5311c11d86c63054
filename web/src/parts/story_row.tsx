// One step of a log as a person reads it. Returns null for steps that are told elsewhere: a result in its call's card, a
// decision in its approval, what became of a command beside the command.
import type {ComponentChildren} from "preact";
import {useEffect, useRef, useState} from "preact/hooks";
import type {JsonObject, Task, TaskCommand, TaskEvent} from "../api/types";
import {isTerminal} from "../model/fold";
import {clockTime, money} from "../model/format";
import type {TaskLog} from "../model/log";
import {kStayMs} from "../model/needs_order";
import {askedOf, cutFrom, numberOf, objectOf, textOf} from "../model/shape";
import {href} from "../state/route";
import {cameToNothing, explained} from "../state/commands";
import {now} from "../state/now";
import {Approval} from "./approval";
import {Clipped} from "./clipped";
import {Guard} from "./guard";
import {Ended, Leaves} from "./outcome";
import {RestInRecord, useRecord} from "./raw";
import {Severity} from "./severity";
import {Exact, Terminal, Words} from "./text";
import {Input, ToolCard} from "./tool_card";
import {LongText} from "./whole";

export interface Story {
  id: string;
  log: TaskLog;
  task: Task;
  at: number | undefined;  // the moment that is looked at; undefined: now
}

export function isToldElsewhere(log: TaskLog, event: TaskEvent): boolean {
  if (event.type === "tool_result") return (log.call(event.callID)?.call ?? 0) > 0;
  if (event.type === "command_result") return true;
  if (event.type === "approval") {
    const asked = log.asked(textOf(event.data, "approvalID"));
    return asked > 0 && asked !== event.sequence;
  }
  return false;
}

function depth(log: TaskLog, event: TaskEvent): number {
  let level = 0;
  for (let parent = event.parentCallID; parent && level < 3; ++level) {
    const call = log.call(parent)?.call;
    parent = call ? log.at(call)?.parentCallID : undefined;
  }
  return level;
}

function Prose({id, event, quiet}: {id: string; event: TaskEvent; quiet?: boolean}) {
  const short = textOf(event.data, "text") || textOf(event.data, "content") || event.summary;
  return (
    <LongText task={id} event={event} what="text" short={short} rows={quiet ? 6 : 60}>
      {(part) => <p class={quiet ? "prose quiet" : "prose"}><Words text={part} /></p>}
    </LongText>
  );
}

function Quiet({children}: {children: ComponentChildren}) {
  return <p class="aside">{children}</p>;
}

function CommandRow({event, story}: {event: TaskEvent; story: Story}) {
  const data = objectOf(event.data) ?? {};
  const command = story.task.commands?.find((each) => each.id === data["id"]);
  const words = textOf(data, "content") || textOf(data, "guidance") || textOf(data, "reason") || textOf(data, "message") || textOf(data, "mode");
  return (
    <div class="command-row">
      <p><span class="tool">{textOf(data, "kind").replace("_", " ")}</span> <span class="quiet"><Words text={textOf(data, "by")} /></span>
        {command && <span class={cameToNothing(command) ? "outcome bad" : "outcome"}> · {explained(command.state ?? "", command.reason)}</span>}</p>
      {words && <Clipped text={words} rows={30}>{(part) => <p class="prose"><Words text={part} /></p>}</Clipped>}
      <Input input={objectOf(data["input"])} />
      {textOf(data, "remember") && <span class="outcome">always for <code><Exact text={textOf(data, "remember")} /></code></span>}
    </div>
  );
}

// Whether this call waits for a person now.
function isAsked(event: TaskEvent, story: Story): boolean {
  return story.at === undefined && !!event.callID && (story.task.approvals ?? []).some((each) => story.log.at(each.sequence ?? 0)?.callID === event.callID);
}

// Who answered, or, when nobody did, what became of it by itself (a rule, the mode, its time).
function whatBecame(settled: TaskEvent | undefined, answer: TaskCommand | undefined, at: number | undefined): string {
  if (at !== undefined && (settled?.sequence ?? answer?.sequence ?? 0) > at) return "";
  if (answer) return `${answer.kind === "deny" ? "denied" : answer.kind === "answer" ? "answered" : "approved"} by ${answer.by ?? "somebody"}`;
  return settled ? [textOf(settled.data, "state"), textOf(settled.data, "message")].filter(Boolean).join(": ") : "";
}

const kRows = 40;

// Open until a moment after it is not: what a person has just answered stays where it is, and under the pointer longer.
function useLinger(open: boolean): {ref: preact.RefObject<HTMLDivElement>; lingers: boolean} {
  const ref = useRef<HTMLDivElement>(null);
  const wasOpen = useRef(open);
  const [until, setUntil] = useState(0);
  useEffect(() => {
    if (wasOpen.current && !open) setUntil(Date.now() + kStayMs);
    wasOpen.current = open;
  }, [open]);
  const closing = wasOpen.current && !open;
  const isFresh = until > 0 && now.value < until;  // looked at again each second
  const isHeld = until > 0 && (ref.current?.matches(":hover, :has(:focus-visible)") ?? false);
  return {ref, lingers: open || closing || isFresh || isHeld};
}

function ApprovalRow({event, story}: {event: TaskEvent; story: Story}) {
  const asked = askedOf(event);
  const id = asked.approvalID;
  const open = story.task.approvals?.some((each) => each.approvalID === id) ?? false;
  const {ref, lingers} = useLinger(open);
  const answer = story.task.commands?.find((each) => each.approvalID === id && !cameToNothing(each));
  const became = whatBecame(story.log.at(story.log.settled(id)), answer, story.at);
  // Its call's card shows what was asked for.
  if (!lingers && (story.log.call(event.callID)?.call ?? 0) > 0) {
    return <Quiet><b>asked</b> <Words text={event.summary} /> {became && <>· <Words text={became} /></>}</Quiet>;
  }
  return (
    <div ref={ref} class={lingers ? "card needs-you" : "card"}>
      <header><span class="tool">{lingers ? "needs you" : "asked"}</span><span class="subject"><Exact text={event.summary} /></span>
        {became && <span class="outcome"><Words text={became} /></span>}</header>
      {lingers && story.at === undefined ? <Approval task={story.id} asked={asked} rows={kRows} isOver={!open} /> : <Input input={asked.input} />}
    </div>
  );
}

// A summary that is all there is of an event, and was cut.
function WholeSummary({id, event}: {id: string; event: TaskEvent}) {
  if (cutFrom(event, "summary") === undefined) return null;
  return <LongText task={id} event={event} what="summary" short={event.summary} rows={1}>{(part) => <p class="prose"><Words text={part} /></p>}</LongText>;
}

// An event that is a card of its own, with its record.
function Card({event, story, name, outcome, failed, children}: {
  event: TaskEvent; story: Story; name: ComponentChildren; outcome: string; failed?: boolean; children?: ComponentChildren;
}) {
  const {button, record} = useRecord(story.id, [event.sequence]);
  return (
    <div class={failed ? "card failed" : "card"}>
      <header>{name}<span class="subject"><Words text={event.summary} /></span><span class="outcome"><Words text={outcome} /></span>{button}</header>
      <WholeSummary id={story.id} event={event} />
      {children}
      {record}
    </div>
  );
}

// What a status says besides its state's name.
function beyondState(summary: string, state: string): string {
  const words = state.replaceAll("_", " ");
  if (!summary.toLowerCase().startsWith(words)) return summary;
  const rest = summary.slice(words.length);
  return rest === "" || rest.startsWith(":") ? rest.replace(/^[:\s]+/, "") : summary;
}

function Content({event, story}: {event: TaskEvent; story: Story}): ComponentChildren {
  const data: JsonObject = objectOf(event.data) ?? {};
  switch (event.type) {
    case "tool_call": {
      const found = story.log.call(event.callID)?.result ?? 0;
      // At a moment between call and result it is still running; what lies behind the moment is shown as it went.
      const between = story.at !== undefined && event.sequence <= story.at && found > story.at;
      const seen = found > 0 && !between ? story.log.at(found) : undefined;
      return <ToolCard task={story.id} call={event} result={seen} isOver={isTerminal(story.task.status?.state ?? "queued")} isAsked={isAsked(event, story)} isPast={story.at !== undefined} />;
    }
    case "tool_result":
      return <ToolCard task={story.id} call={event} result={event} isOver isAsked={false} isPast={false} />;
    case "thinking":
      return <Prose id={story.id} event={event} quiet={textOf(data, "kind") === "reasoning"} />;
    case "output":
      return <Prose id={story.id} event={event} />;
    case "message":
      return <blockquote><Prose id={story.id} event={event} quiet={textOf(data, "role") !== "user"} /></blockquote>;
    case "error":
      return <Card story={story} event={event} failed name={<span class="tool bad">✕ error</span>} outcome={textOf(data, "code") + (data["fatal"] === true ? " · fatal" : "")} />;
    case "finding":
      return (
        <Card story={story} event={event} name={<Severity name={textOf(data, "severity")} />} outcome={textOf(data, "category")}>
          <Input input={Object.fromEntries(Object.entries(data).filter(([name]) => name !== "severity" && name !== "category"))} />
        </Card>
      );
    case "approval":
      return <ApprovalRow event={event} story={story} />;
    case "command":
      return <CommandRow event={event} story={story} />;
    case "result":
      return <Card story={story} event={event} name={<span class="tool">result</span>} outcome=""><Leaves data={data} /></Card>;
    case "usage":
      return <Quiet><Words text={event.summary || money(numberOf(data["costUSD"]) ?? 0)} /></Quiet>;
    case "session_start":
      return <Quiet>session <code><Words text={event.sessionID ?? ""} /></code> · <Words text={textOf(data, "model")} /> · <Words text={textOf(data, "cwd")} /></Quiet>;
    case "status":
      return <><Quiet><b><Words text={textOf(data, "state").replaceAll("_", " ") || "status"} /></b> <Words text={beyondState(event.summary, textOf(data, "state"))} /></Quiet><WholeSummary id={story.id} event={event} /><Ended data={data} /></>;
    case "log":
      return <LongText task={story.id} event={event} what="text" short={textOf(data, "line") || event.summary} rows={60}>{(part) => <pre class="output log"><Terminal text={part} /></pre>}</LongText>;
    default:
      return <><Quiet><b><Words text={event.type} /></b> <Words text={event.summary} /></Quiet><WholeSummary id={story.id} event={event} /></>;
  }
}

export function StoryRow({event, story, chosen}: {event: TaskEvent; story: Story; chosen: boolean}) {
  const level = depth(story.log, event);
  const later = story.at !== undefined && event.sequence > story.at;
  return (
    <div class={`step step-${/^[a-z_]+$/.test(event.type) ? event.type : "other"}${chosen ? " chosen" : ""}${later ? " later" : ""}`} data-level={level} data-sequence={event.sequence}>
      <a class="when" href={href({task: story.id, at: event.sequence})} title={`event ${event.sequence}, ${event.timestamp}`}
         aria-label={`Event ${event.sequence}: go to this moment`}>{clockTime(event.timestamp)}</a>
      <div class="what">{level > 0 && <span class="sub-agent">sub-agent</span>}<Guard what="event" record={event}><Content event={event} story={story} />{cutFrom(event, "data") !== undefined && <RestInRecord task={story.id} sequence={event.sequence} />}</Guard>{event.late && <p class="aside">came after the end</p>}</div>
    </div>
  );
}
