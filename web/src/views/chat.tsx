// A conversation with a model: the sessions, the chosen one as it is written, and the field for the next prompt. A chat is
// a task, so everything here comes from its log.
import {useEffect, useMemo, useRef, useState} from "preact/hooks";
import type {TaskEvent} from "../api/types";
import {rowFor, rowKind} from "../model/chat_log";
import {titleOf} from "../model/fleet_rows";
import {isTerminal} from "../model/fold";
import {plainLine} from "../model/hidden";
import {textOf} from "../model/shape";
import {ChatRow, Thinking, type ChatStory} from "../parts/chat_row";
import {Markdown} from "../parts/markdown";
import {Notice} from "../parts/notice";
import {Words} from "../parts/text";
import {VirtualList} from "../parts/virtual_list";
import {ChatView} from "../state/chat_view";
import {forkChat} from "../state/chat_acts";
import {addKeys} from "../state/keys";
import {keepDraft} from "../state/kept_draft";
import {hasModel} from "../state/model";
import {at, change, chatID, go, href, kChatAgent} from "../state/route";
import {mayCommand} from "../state/session";
import "../styles/chat.css";
import {ChatHead} from "./chat_head";
import {ChatList, ChatListButton, listOpen} from "./chat_list";
import {Composer} from "./composer";
import {useLingering} from "./use_lingering";

const kReadPauseMs = 60;   // a fast scroll reads where it ends
const kSpoken = 400;       // characters of an answer that a screen reader is given

function useChat(id: string): ChatView {
  const view = useMemo(() => new ChatView(id, at.peek()), [id]);
  useEffect(() => () => view.close(), [view]);
  return view;
}

// One sentence when something ends or needs a person; the text itself is not spoken while it streams.
function Spoken({chat, running}: {chat: ChatView; running: boolean}) {
  const said = chat.spoken.value;
  const asked = chat.view.task.value?.approvals?.[0]?.summary;
  const words = asked ? asked : running ? "The model answers." : said ? (said.type === "error" ? textOf(said.data, "message") || said.summary : `Answer: ${textOf(said.data, "content").slice(0, kSpoken)}`) : "";
  return <p class="hidden" role="status">{plainLine(words)}</p>;
}

function Session({id}: {id: string}) {
  const chat = useChat(id);
  const {view} = chat;
  const list = useRef<VirtualList>(null);
  const timer = useRef(0);
  const moment = at.value;
  const [follows, setFollows] = useState(moment === undefined);
  const [failure, setFailure] = useState("");
  const given = useRef("");  // the prompt with which the chat was created; only the whole task has it, not its row
  const version = view.version.value;
  void chat.written.value;
  const task = view.task.value;
  const {log} = view;
  const lingering = useLingering(view, (approvalID) => `.turn[data-sequence="${log.call(log.at(log.asked(approvalID))?.callID)?.call ?? log.asked(approvalID)}"]`);
  const isOpen = (approvalID: string) => lingering.has(approvalID);

  // Brings the moment of the address into view once it is loaded.
  useEffect(() => {
    if (moment === undefined || !task) return;
    void view.want(moment - 20, moment + 20).then(() => requestAnimationFrame(() => list.current?.show(rowFor(log, chat.chat, task, moment) - log.first))).catch(() => {});
  }, [moment, view, task === null]);

  useEffect(() => addKeys([
    {key: "j", does: "down", act: () => list.current?.scrollBy(80)},
    {key: "k", does: "up", act: () => list.current?.scrollBy(-80)},
    {key: "G", does: "to the end", act: () => { change({at: undefined}); list.current?.toEnd(); }},
    {key: "m", does: "to the prompt field", act: () => document.querySelector<HTMLElement>("[data-message]")?.focus()},
  ]), [view]);

  function readSoon(first: number, last: number): void {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => void view.want(first + log.first - 20, last + log.first + 20).catch(() => {}), kReadPauseMs);
  }

  async function fork(through: number, draft: string): Promise<void> {
    setFailure("");
    try {
      const fresh = await forkChat(id, through, task ? titleOf(task) : "");
      if (draft) keepDraft(`chat/${fresh}`, draft);
      go({chat: fresh});
    } catch (error) {
      setFailure((error as Error).message);
    }
  }

  if (view.error.value) return <div class="chat-main"><Notice heading title={view.error.value === "There is no such task." ? "There is no such chat" : view.error.value}><a href={href({view: "chat"})}>Begin one</a></Notice></div>;
  if (!task) return <div class="chat-main"><Notice heading title="Reading the chat …" busy /></div>;
  if (task.agent !== kChatAgent) return <div class="chat-main"><Notice heading title="This task is not a chat"><a href={href({task: id})}>Open its log</a></Notice></div>;

  given.current ||= textOf(task.task, "description");
  const state = task.status?.state ?? "queued";
  const running = state === "running" || state === "waiting_for_input" || state === "starting" || (state === "queued" && given.current !== "");
  const mayFork = mayCommand() && hasModel.value === true;
  const story: ChatStory = {
    id, log, chat: chat.chat, task, at: undefined, isOpen,
    onFork: mayFork ? (event: TaskEvent) => void fork(event.sequence, "") : undefined,
    onEdit: mayFork ? (event: TaskEvent) => void fork(event.sequence - 1, textOf(event.data, "content")) : undefined,
  };
  const chosen = moment === undefined ? 0 : rowFor(log, chat.chat, task, moment);
  const rows = Math.max(0, log.last - log.first + 1);
  const live = running && !chat.live.isEmpty;
  const waiting = chat.chat.waiting(log, task);
  // The prompt of a chat that was created with one is in the log once its turn begins.
  if (chat.chat.asked === 0 && log.first === 1 && given.current) waiting.unshift({id: "first", sequence: 0, text: given.current, now: false, by: ""});
  const extra = [...(live ? ["live"] : running && hasModel.value && waiting.length === 0 && state !== "waiting_for_input" && !hasOpenTool(chat) ? ["thinking"] : []), ...waiting.map((each) => `wait/${each.id}`)];
  const rowOf = (index: number) => {
    if (index >= rows) {
      const what = extra[index - rows]!;
      if (what === "live") return <LiveRow chat={chat} />;
      if (what === "thinking") return <div class="turn"><p class="aside-line quiet busy">The model reads …</p></div>;
      const each = waiting[index - rows - (extra.length - waiting.length)]!;
      return (
        <div class="turn"><article class="prompt waiting"><header><b>{each.now ? "for this turn" : state === "paused" ? "sent" : "waits for its turn"}</b></header>
          <p class="prose" dir="auto"><Words text={each.text || "…"} /></p></article></div>
      );
    }
    const event = log.at(index + log.first);
    if (!event) return <div class="turn unread" aria-busy="true" />;
    const kind = rowKind(log, chat.chat, event, task);
    return kind === null ? null : <ChatRow event={event} kind={kind} story={story} chosen={event.sequence === chosen} />;
  };
  return (
    <div class="chat-main">
      <ChatHead chat={chat} task={task} version={version} failure={failure} />
      <div class="conversation">
        {rows + extra.length === 0 ? <Notice title="Nothing has been said yet" /> : (
          <VirtualList ref={list} count={rows + extra.length} guess={60} role="feed" label="Conversation" follow={moment === undefined} onRange={readSoon} onFollow={setFollows}
                       isHeld={() => document.querySelector(".conversation .needs-you:hover") !== null}
                       keyOf={(index) => (index >= rows ? extra[index - rows] ?? index : index + log.first)} row={rowOf} />)}
        {!follows && moment === undefined && <button type="button" class="to-end" onClick={() => list.current?.toEnd()}>↓ to the end</button>}
        {moment !== undefined && <button type="button" class="to-end" onClick={() => { change({at: undefined}); requestAnimationFrame(() => list.current?.toEnd()); }}>↓ to the end</button>}
      </div>
      <Spoken chat={chat} running={running} />
      <Composer task={task} running={running} ended={isTerminal(state)} onSent={() => { change({at: undefined}); list.current?.toEnd(); }} />
    </div>
  );
}

// A tool that runs says so itself.
function hasOpenTool(chat: ChatView): boolean {
  const {log} = chat.view;
  for (let n = log.last; n >= log.first && n > log.last - 12; --n) {
    const event = log.at(n);
    if (event?.type === "tool_call") return !log.call(event.callID)?.result;
    if (event?.type === "message") return false;
  }
  return false;
}

function LiveRow({chat}: {chat: ChatView}) {
  const {live} = chat;
  return (
    <div class="turn" data-kind="live" aria-busy="true">
      <article class="answer writing">
        <Thinking text={live.reasoning} open={live.text === ""} />
        {live.text && <Markdown text={live.text} />}
        {live.cut && <p class="clipped quiet">It goes on; all of it can be read when the answer is finished.</p>}
      </article>
    </div>
  );
}

function Fresh() {
  return (
    <div class="chat-main">
      <header class="chat-head"><div class="chat-title"><ChatListButton /><h1>New chat</h1></div></header>
      <div class="conversation"><Notice title="What do you want to know?"><p>All that is said is kept in the log. Tools ask before they act.</p></Notice></div>
      <Composer task={undefined} running={false} ended={false} onSent={() => {}} />
    </div>
  );
}

export function Chat() {
  const id = chatID.value;
  if (!id && hasModel.value === false) {
    return (
      <Notice heading title="This server has no model to chat with">
        <p>Add one to its configuration file and start it again:</p>
        <pre>{"models:\n  local: {type: openai, url: \"http://127.0.0.1:8000/v1\"}"}</pre>
      </Notice>
    );
  }
  return <div class={listOpen.value ? "chat list-open" : "chat"}><ChatList chosen={id} />{id ? <Session key={id} id={id} /> : <Fresh />}</div>;
}
