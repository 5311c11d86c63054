// The chat sessions, the last used first.
import {signal} from "@preact/signals";
import {useMemo} from "preact/hooks";
import type {Task} from "../api/types";
import {titleOf} from "../model/fleet_rows";
import {ago} from "../model/format";
import {stateWord} from "../parts/state_mark";
import {Name} from "../parts/text";
import {loaded, tasks} from "../state/fleet";
import {hasModel} from "../state/model";
import {now} from "../state/now";
import {href, kChatAgent} from "../state/route";
import {mayCommand} from "../state/session";

const kMost = 200;

// On a narrow screen the list is over the conversation, and only on demand.
export const listOpen = signal(false);

export function ChatListButton() {
  return <button type="button" class="plain chats-button" aria-expanded={listOpen.value} aria-label="Chats" onClick={() => { listOpen.value = !listOpen.value; }}>☰</button>;
}

const usedAt = (task: Task) => task.lastEventAt || task.createdAt;

// Idle chats say nothing of their state; it is the ordinary one.
function Mark({task}: {task: Task}) {
  const state = task.status?.state ?? "queued";
  if (state === "paused" || (state === "queued" && task.lastSequence === 0)) return null;
  return <span class={`chat-mark state-${state}`}>{state === "waiting_for_input" ? "needs you" : stateWord(state)}</span>;
}

export function ChatList({chosen}: {chosen: string}) {
  const all = tasks.value;
  const chats = useMemo(() => all.filter((task) => task.agent === kChatAgent).sort((a, b) => (usedAt(a) < usedAt(b) ? 1 : -1)), [all]);
  return (
    <aside class="chats" aria-label="Chats" onClick={(click) => { if ((click.target as Element).closest("a")) listOpen.value = false; }}>
      <header><h2>Chats</h2>{mayCommand() && hasModel.value && <a class="button" href={href({view: "chat"})} aria-current={chosen ? undefined : "page"}>New</a>}</header>
      <ul>
        {chats.slice(0, kMost).map((task) => (
          <li key={task.id}>
            <a href={href({chat: task.id})} aria-current={task.id === chosen ? "page" : undefined}>
              <span class="chat-name"><Name text={titleOf(task)} most={21} /></span>
              <span class="chat-age quiet number">{ago(Math.max(0, now.value - Date.parse(usedAt(task))))}</span>
              <Mark task={task} />
            </a>
          </li>))}
      </ul>
      {chats.length === 0 && <p class="quiet none">{loaded.value ? "No chats yet." : "Reading …"}</p>}
      {chats.length > kMost && <p class="none"><a href={href({agent: kChatAgent})}>All {chats.length} in the fleet</a></p>}
    </aside>
  );
}
