// The top of a chat: its name, the model, how full the context is, what it cost; stop, clear.
import {useState} from "preact/hooks";
import {chatApi} from "../api/chat";
import type {Task} from "../api/types";
import {titleOf} from "../model/fleet_rows";
import {isTerminal} from "../model/fold";
import {money} from "../model/format";
import {StateMark} from "../parts/state_mark";
import {Name} from "../parts/text";
import type {ChatView} from "../state/chat_view";
import {hasModel} from "../state/model";
import {href} from "../state/route";
import {mayCommand} from "../state/session";
import {ChatListButton} from "./chat_list";

const number = (value: number) => value.toLocaleString("en-US");

// `version` redraws it when the log has changed.
function ContextUse({chat}: {chat: ChatView; version: number}) {
  const status = chat.status.value;
  const used = chat.chat.context();
  const size = status?.contextSize || chat.chat.start?.contextTokens || 0;
  const tokens = used?.tokens ?? status?.totalTokens ?? 0;
  const how = used?.exact ? "exact" : "estimated";
  const words = `${number(tokens)}${size > 0 ? ` of ${number(size)}` : ""} tokens, ${how}`;
  return (
    <span class="context" title={`Tokens in the model's context: ${words}`}>
      {size > 0 && <meter min={0} max={size} value={Math.min(tokens, size)} aria-label="Context used" />}
      <span class="number">{words}</span>
    </span>
  );
}

function Cost({chat}: {chat: ChatView}) {
  const cost = chat.chat.cost;
  if (!cost) return null;
  if (!cost.unpriced) return <span class="number" title="Cost so far">{money(cost.usd)}</span>;
  return <span class="number" title="The configuration has no price for this model">{cost.usd > 0 ? `${money(cost.usd)} and unpriced` : "unpriced"}</span>;
}

export function ChatHead({chat, task, version, failure}: {chat: ChatView; task: Task; version: number; failure: string}) {
  const [clearing, setClearing] = useState(false);
  const [said, setSaid] = useState("");
  const state = task.status?.state ?? "queued";
  async function clear(): Promise<void> {
    setClearing(false);
    setSaid("");
    await chatApi.clear(task.id).catch((error: unknown) => setSaid((error as Error).message));
  }
  const mayClear = mayCommand() && hasModel.value && !isTerminal(state) && (chat.chat.context()?.tokens ?? 0) > 0;
  return (
    <header class="chat-head">
      <div class="chat-title">
        <ChatListButton />
        <h1><Name text={titleOf(task)} most={70} /></h1>
        {state !== "paused" && <StateMark state={state} />}
        <span class="grow" />
        {clearing
          ? <><span class="quiet">The model forgets all of it; the log keeps it.</span><button type="button" class="danger" onClick={() => void clear()}>Really clear it</button><button type="button" class="plain" onClick={() => setClearing(false)}>No</button></>
          : mayClear && <button type="button" class="plain" onClick={() => setClearing(true)}>Clear</button>}
        <a class="log-link" href={href({task: task.id})}>Log</a>
      </div>
      <p class="chat-facts quiet">
        <Name text={chat.status.value?.model || task.model || chat.chat.start?.model || ""} most={40} />
        <ContextUse chat={chat} version={version} />
        <Cost chat={chat} />
      </p>
      {(said || failure) && <p class="bad" role="alert">{said || failure}</p>}
    </header>
  );
}
