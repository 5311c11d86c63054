// One row of a conversation: a prompt, an answer, a tool, or what happened to the context.
import type {ComponentChildren} from "preact";
import type {Task, TaskEvent} from "../api/types";
import {promptOf, type ChatLog, type ChatRowKind, type Departure} from "../model/chat_log";
import {clockTime, count, dayAndTime, duration} from "../model/format";
import type {TaskLog} from "../model/log";
import {countOf, cutFrom, objectOf, textOf} from "../model/shape";
import {api} from "../api/client";
import {cameToNothing, explained} from "../state/commands";
import {now} from "../state/now";
import {href} from "../state/route";
import {me} from "../state/session";
import {ChatText} from "./chat_text";
import {ChatTool} from "./chat_tool";
import {CopyButton} from "./copy";
import {Guard} from "./guard";
import {Markdown} from "./markdown";
import {RestInRecord} from "./raw";
import {Words} from "./text";

export interface ChatStory {
  id: string;
  log: TaskLog;
  chat: ChatLog;
  task: Task;
  at: undefined;
  isOpen: (approvalID: string) => boolean;
  // Undefined if this person may not, or the server has no model.
  onFork: ((event: TaskEvent) => void) | undefined;
  onEdit: ((event: TaskEvent) => void) | undefined;
}

const kAnswerRows = 1200;
const kPromptRows = 60;

const whoSays = (by: string) => (!by || by === me.value?.person ? "you" : by);

// The whole text of a message, for the clipboard.
async function wholeText(task: string, event: TaskEvent): Promise<string> {
  const short = textOf(event.data, "content");
  if (objectOf(event.data)?.["contentCut"] !== true) return short;
  return textOf((await api.detail(task, event.sequence)).value, "content") || short;
}

function When({event, id}: {event: TaskEvent; id: string}) {
  return <a class="when" href={href({chat: id, at: event.sequence})} title={`event ${event.sequence}, ${event.timestamp}`} aria-label={`Event ${event.sequence}: link to it`}>{dayAndTime(event.timestamp, now.peek())}</a>;
}

function Gone({gone}: {gone: Departure | undefined}) {
  return gone ? <span class="gone-mark" title={gone.cleared ? "cleared by a person" : "it made room for newer messages"}>no longer in the model’s context</span> : null;
}

function PromptRow({event, story}: {event: TaskEvent; story: ChatStory}) {
  const gone = story.chat.gone(event.sequence);
  return (
    <article class={gone ? "prompt gone" : "prompt"}>
      <header><b><Words text={whoSays(textOf(event.data, "by"))} /></b> <When event={event} id={story.id} /> <Gone gone={gone} />
        <span class="acts"><CopyButton text={() => wholeText(story.id, event)} />
          {!gone && story.onEdit && <button type="button" class="act" title="Forks the chat before this prompt and puts the prompt into the new chat's field" onClick={() => story.onEdit!(event)}>Edit in a fork</button>}</span></header>
      <ChatText task={story.id} event={event} rows={kPromptRows}>{(part) => <p class="prose" dir="auto"><Words text={part} /></p>}</ChatText>
    </article>
  );
}

export function Thinking({text, open = false}: {text: string; open?: boolean}) {
  if (!text) return null;
  return <details class="thinking" open={open}><summary>Reasoning</summary><p class="prose quiet" dir="auto"><Words text={text} /></p></details>;
}

const kFinish: Record<string, string> = {length: "cut off by the token limit", cancelled: "stopped", content_filter: "ended by the backend's filter"};

function AnswerFoot({event, story, gone}: {event: TaskEvent; story: ChatStory; gone: Departure | undefined}) {
  const data = objectOf(event.data) ?? {};
  const prompt = promptOf(story.log, event.sequence);
  const took = prompt ? duration(Date.parse(event.receivedAt) - Date.parse(prompt.receivedAt)) : "";
  const tokens = countOf(data, "tokens");
  const finish = kFinish[textOf(data, "finishReason")] ?? "";
  return (
    <footer>
      <span class="quiet">{[textOf(data, "model"), tokens > 0 ? `${data["tokensExact"] === true ? "" : "about "}${count(tokens)} ${tokens === 1 ? "token" : "tokens"}` : "", took].filter(Boolean).map((each, index) => <span key={index} class="fact"><Words text={each} /></span>)}</span>
      {finish && <span class="fact warn">{finish}</span>}
      <When event={event} id={story.id} />
      <Gone gone={gone} />
      <span class="acts"><CopyButton text={() => wholeText(story.id, event)} />
        {!gone && story.onFork && data["final"] === true && <button type="button" class="act" title="Begins a new chat with everything up to this answer" onClick={() => story.onFork!(event)}>Fork</button>}</span>
    </footer>
  );
}

function AnswerRow({event, story}: {event: TaskEvent; story: ChatStory}) {
  const gone = story.chat.gone(event.sequence);
  const content = textOf(event.data, "content");
  const ends = objectOf(event.data)?.["final"] === true || textOf(event.data, "finishReason") === "cancelled";
  return (
    <article class={gone ? "answer gone" : "answer"}>
      <Thinking text={textOf(event.data, "reasoning")} />
      {content ? <ChatText task={story.id} event={event} rows={kAnswerRows}>{(part) => <Markdown text={part} />}</ChatText>
        : ends && <p class="quiet">The model said nothing.</p>}
      {(ends || gone) && <AnswerFoot event={event} story={story} gone={gone} />}
    </article>
  );
}

function StartRow({event, story}: {event: TaskEvent; story: ChatStory}) {
  const start = story.chat.start;
  const system = textOf(event.data, "system");
  const tools = start?.sequence === event.sequence ? start.tools : [];
  return (
    <div class="aside-line"><p class="quiet">{clockTime(event.timestamp)} · chat with <Words text={textOf(event.data, "model")} />{tools.length > 0 && <> · tools: <Words text={tools.join(", ")} /></>}</p>
      {system && <details class="thinking"><summary>System prompt</summary><p class="prose quiet" dir="auto"><Words text={system} /></p></details>}</div>
  );
}

function EvictionRow({event}: {event: TaskEvent}) {
  const cleared = textOf(event.data, "reason") === "cleared";
  const [messages, tokens] = [countOf(event.data, "messagesEvicted"), countOf(event.data, "tokensFreed")];
  return (
    <div class={cleared ? "divider cleared" : "divider"} role="separator" aria-label={event.summary}>
      <span>{cleared ? "Cleared: the model begins anew; what is above stays readable" : `${messages} older ${messages === 1 ? "message" : "messages"} left the model’s context to make room (${count(tokens)} tokens)`}</span>
    </div>
  );
}

function ErrorRow({event}: {event: TaskEvent}) {
  const [code, message] = [textOf(event.data, "code"), textOf(event.data, "message") || event.summary];
  if (code === "cancelled") return <p class="aside-line quiet">■ Stopped. <Words text={message} /></p>;
  return (
    <div class="card failed turn-error" role="note">
      <header><span class="tool bad">✕ error</span><span class="subject"><Words text={message} /></span><span class="outcome"><Words text={code.replaceAll("_", " ")} /></span></header>
    </div>
  );
}

function RefusedRow({event, story}: {event: TaskEvent; story: ChatStory}) {
  const outcome = story.chat.outcome(textOf(event.data, "id"), story.task);
  return (
    <article class="prompt refused">
      <header><b><Words text={whoSays(textOf(event.data, "by"))} /></b> <When event={event} id={story.id} />
        <span class="bad">{outcome && cameToNothing(outcome) ? explained(outcome.state, outcome.reason) : ""}</span>
        <span class="acts"><CopyButton text={() => textOf(event.data, "content")} /></span></header>
      <p class="prose" dir="auto"><Words text={textOf(event.data, "content")} /></p>
    </article>
  );
}

function Content({event, kind, story}: {event: TaskEvent; kind: ChatRowKind; story: ChatStory}): ComponentChildren {
  switch (kind) {
    case "start": return <StartRow event={event} story={story} />;
    case "prompt": return <PromptRow event={event} story={story} />;
    case "answer": return <AnswerRow event={event} story={story} />;
    case "tool": return <ChatTool callID={event.callID ?? ""} call={event} story={story} />;
    case "result":
    case "approval": return <ChatTool callID={event.callID ?? ""} call={undefined} story={story} />;
    case "eviction": return <EvictionRow event={event} />;
    case "error": return <ErrorRow event={event} />;
    case "refused": return <RefusedRow event={event} story={story} />;
    case "command": return <p class="aside-line quiet"><Words text={[textOf(event.data, "kind").replace("_", " "), textOf(event.data, "mode")].filter(Boolean).join(": ")} /> · <Words text={whoSays(textOf(event.data, "by"))} /></p>;
    case "end": return <p class="aside-line quiet">The chat has ended: <Words text={event.summary} /></p>;
    default: return <p class="aside-line quiet"><Words text={event.summary || event.type} /></p>;
  }
}

export function ChatRow({event, kind, story, chosen}: {event: TaskEvent; kind: ChatRowKind; story: ChatStory; chosen: boolean}) {
  return (
    <div class={chosen ? "turn chosen" : "turn"} data-sequence={event.sequence} data-kind={kind}>
      <Guard what="event" record={event}><Content event={event} kind={kind} story={story} />{cutFrom(event, "data") !== undefined && <RestInRecord task={story.id} sequence={event.sequence} />}</Guard>
    </div>
  );
}
