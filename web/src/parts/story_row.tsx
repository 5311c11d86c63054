// One step of a log for a person to read, together with the steps that model/told.ts merges into it.
import type {ComponentChildren} from "preact";
import type {JsonObject, Task, TaskEvent} from "../api/types";
import {isTerminal} from "../model/fold";
import {clockTime, money} from "../model/format";
import type {TaskLog} from "../model/log";
import {askedOf, cutFrom, numberOf, objectOf, objectsOf, textOf} from "../model/shape";
import {href} from "../state/route";
import {cameToNothing, explained} from "../state/commands";
import {Approval} from "./approval";
import {Clipped} from "./clipped";
import {Guard} from "./guard";
import {Ended, Leaves} from "./outcome";
import {RestInRecord, useRecord} from "./raw";
import {Severity} from "./severity";
import {Steps} from "./steps";
import {Exact, Terminal, Words} from "./text";
import {Input, ToolCard} from "./tool_card";
import {LongText} from "./whole";

export interface Story {
  id: string;
  log: TaskLog;
  task: Task;
  at: number | undefined;  // the viewed moment; undefined means now
  isOpen: (approvalID: string) => boolean;  // whether the approval is shown as open
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

const kAnswers: Record<string, string> = {approve: "approved", deny: "denied", answer: "answered"};

function Answer({event, story}: {event: TaskEvent; story: Story}) {
  const data = objectOf(event.data) ?? {};
  const command = story.task.commands?.find((each) => each.id === data["id"]);
  const kind = textOf(data, "kind");
  return (
    <>
      <span>{kAnswers[kind] ?? kind} by <Words text={textOf(data, "by") || "a person"} /></span>
      {textOf(data, "message") && <span>: <Words text={textOf(data, "message")} /></span>}
      {textOf(data, "remember") && <span> · always for <code><Exact text={textOf(data, "remember")} /></code></span>}
      {command && cameToNothing(command) && <span class="bad"> · {explained(command.state ?? "", command.reason)}</span>}
    </>
  );
}

// Whether a person was asked, who answered, or what settled it without an answer (a rule, the mode, its time limit).
export function Became({id, story, name}: {id: string; story: Story; name?: string}) {
  const then = (sequence: number) => (sequence > 0 && sequence <= (story.at ?? Infinity) ? story.log.at(sequence) : undefined);
  const answers = story.log.answers(id).map(then).filter((each) => each !== undefined);
  const settled = then(story.log.settled(id));
  const alone = answers.length === 0 && settled ? [textOf(settled.data, "state"), textOf(settled.data, "message")].filter(Boolean).join(": ") : "";
  if (!name && answers.length === 0 && !alone) return null;
  return (
    <div class="became">
      <p class="aside">{name && <b>{name}</b>}
        {answers.map((each, index) => <span key={each.sequence}>{(name || index > 0) && " · "}<Answer event={each} story={story} /></span>)}
        {alone && <>{name && " · "}<Words text={alone} /></>}</p>
      {answers.map((each) => <Input key={each.sequence} input={objectOf(objectOf(each.data)?.["input"])} />)}
    </div>
  );
}

const kRows = 40;

function ApprovalRow({event, story}: {event: TaskEvent; story: Story}) {
  const asked = askedOf(event);
  const waits = story.isOpen(asked.approvalID);
  const isOver = !(story.task.approvals?.some((each) => each.approvalID === asked.approvalID) ?? false);
  return (
    <div class={waits ? "card needs-you" : "card"}>
      <header><span class="tool">{waits ? "needs you" : "asked"}</span><span class="subject"><Exact text={event.summary} /></span></header>
      {!waits && <Became id={asked.approvalID} story={story} />}
      {waits && story.at === undefined ? <Approval task={story.id} asked={asked} rows={kRows} isOver={isOver} /> : <Input input={asked.input} />}
    </div>
  );
}

// For an event that has only a summary, which was cut.
function WholeSummary({id, event}: {id: string; event: TaskEvent}) {
  if (cutFrom(event, "summary") === undefined) return null;
  return <LongText task={id} event={event} what="summary" short={event.summary} rows={1}>{(part) => <p class="prose"><Words text={part} /></p>}</LongText>;
}

// An event with its own card and record.
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

// The part of a status summary that goes beyond the state's name.
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
      // At a moment between call and result the call is still running; calls after the moment are shown with their
      // results.
      const between = story.at !== undefined && event.sequence <= story.at && found > story.at;
      const seen = found > 0 && !between ? story.log.at(found) : undefined;
      return <ToolCard task={story.id} call={event} result={seen} isOver={isTerminal(story.task.status?.state ?? "queued")} isAsked={isAsked(event, story)} isPast={story.at !== undefined}
                       asked={story.log.approvalsOf(event.callID).filter((id) => !story.isOpen(id) && story.log.asked(id) <= (story.at ?? Infinity)).map((id) => <Became key={id} id={id} story={story} name="asked" />)} />;
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
      return <><Quiet><b><Words text={textOf(data, "state").replaceAll("_", " ") || "status"} /></b> <Words text={beyondState(event.summary, textOf(data, "state"))} /></Quiet><WholeSummary id={story.id} event={event} /><Steps steps={objectsOf(objectOf(data["details"])?.["plan"])} /><Ended data={data} /></>;
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
      <div class="what">{level > 0 && <span class="sub-agent">sub-agent</span>}<Guard what="event" record={event}><Content event={event} story={story} />{cutFrom(event, "data") !== undefined && <RestInRecord task={story.id} sequence={event.sequence} />}</Guard>{event.late && <p class="aside">received after completion</p>}</div>
    </div>
  );
}
