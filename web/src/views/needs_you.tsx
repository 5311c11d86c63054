// Pinned above the fleet: the items that wait for a person, most urgent first, each with its action.
import {useRef, useState} from "preact/hooks";
import {api} from "../api/client";
import type {InboxItem} from "../api/contract";
import type {Task} from "../api/types";
import {ago, duration} from "../model/format";
import {plainLine} from "../model/hidden";
import {arranged, type Shown} from "../model/needs_order";
import {askedOf, textOf} from "../model/shape";
import {Approval} from "../parts/approval";
import {Guard} from "../parts/guard";
import {Exact, Name, Words} from "../parts/text";
import {cameToNothing, can, failureWords, followed, send, settledWords, useTaskRow, type Sent} from "../state/commands";
import {askToNotify, inbox, inboxMissing, keyOf, notifyChoice, refreshInbox} from "../state/inbox";
import {now} from "../state/now";
import {useResource} from "../state/resource";
import {href, taskHref} from "../state/route";
import {mayCommand} from "../state/session";

const kWord: Record<InboxItem["kind"], string> = {
  approval: "approval", question: "question", waiting: "waiting for input", stalled: "stalled", failed: "failed",
};
const kFirst = 3;  // shown whole; the others are one line each until they are opened
const kRows = 12;  // of an input; the rest must be opened

interface ItemProps {
  item: InboxItem;
  isOver: boolean;  // it no longer needs a person
}

// A message to an agent that waits for one or has gone quiet.
function Reply({item, isOver}: ItemProps) {
  const [text, setText] = useState("");
  const [failure, setFailure] = useState("");
  const [sent, setSent] = useState<Sent | null>(null);
  const row = useTaskRow(item.taskID);
  const kind = can(row, "steer") ? "steer" : "queue";
  async function reply(): Promise<void> {
    setFailure("");
    try {
      const got = await send(item.taskID, {kind, content: text});
      setSent({id: got.id, kind, state: got.state, reason: got.reason});
      if (!cameToNothing(got)) setText("");
    } catch (error) {
      setFailure(failureWords(error));
    }
  }
  if (!mayCommand() || !can(row, kind)) return null;
  const said = failure || (sent && settledWords(followed(row, sent)));
  return (
    <form class="actions" onSubmit={(submit) => { submit.preventDefault(); void reply(); }}>
      <input class="grow" value={text} aria-label={`Message to ${plainLine(item.title)}`} placeholder="message to the agent" disabled={isOver} onInput={(input) => setText(input.currentTarget.value)} />
      <button class={item.kind === "waiting" ? "primary" : ""} disabled={!text || isOver}>Send</button>
      {said && <span class="said" role="status">{said}</span>}
    </form>
  );
}

function Look({item, isOver}: ItemProps) {
  const [said, setSaid] = useState("");
  const [dismissed, setDismissed] = useState(false);
  async function dismiss(): Promise<void> {
    setDismissed(true);
    try {
      await api.post("/inbox/dismiss", {taskID: item.taskID});
      setSaid("Dismissed ✓ by you");
      await refreshInbox();
    } catch (error) {
      setSaid((error as Error).message);
      setDismissed(false);
    }
  }
  const words = said || (isOver && "It needs no answer any more.");
  return (
    <div class="actions">
      <a class="button" href={href({task: item.taskID, at: item.sequence || undefined})}>Look</a>
      {mayCommand() && item.kind !== "waiting" && <button type="button" disabled={dismissed || isOver} onClick={() => void dismiss()}>Dismiss</button>}
      {words && <span class={dismissed || isOver ? "said settled" : "said bad"} role="status">{words}</span>}
    </div>
  );
}

// The request's event, so that the decision is about what the log has, with the rules that may be remembered.
function Decide({item, isOver}: ItemProps) {
  const request = useResource(`${item.taskID}/${item.sequence}`, async (signal) => askedOf(await api.event(item.taskID, item.sequence, signal)));
  const {value: asked, error} = request.state.value;
  if (asked?.sequence === item.sequence) return <Approval task={item.taskID} asked={asked} rows={kRows} isOver={isOver} />;
  if (error) return <p class="bad" role="alert">The request could not be read: {error} <button type="button" class="more" onClick={() => request.retry()}>try again</button></p>;
  return <p class="quiet">reading …</p>;
}

function Action(props: ItemProps) {
  if (props.item.approval) return <Decide {...props} />;
  return <div class="ways">{props.item.kind !== "failed" && <Reply {...props} />}<Look {...props} /></div>;
}

// Distinguishes tasks of the same name.
function Which({item, task}: {item: InboxItem; task: Task | undefined}) {
  const url = textOf(task?.repo, "url").replace(/^[a-z]+:\/\/(?:[^@/]*@)?/i, "").replace(/\.git$/, "");
  return <span class="need-which quiet">{url && <><Name text={url} most={34} /> · </>}<code><Name text={item.taskID} most={28} /></code></span>;
}

function Item({item, isOver, open}: ItemProps & {open: boolean}) {
  const [opened, setOpened] = useState(open);
  const age = Math.max(0, now.value - Date.parse(item.since));
  const body = opened || open;
  const task = useTaskRow(item.taskID);
  return (
    <li class={isOver ? "need over" : "need"}>
      <div class="need-head">
        <span class="need-kind">{kWord[item.kind] ?? "needs you"}</span>
        <a class="need-title" href={taskHref(item.taskID, task?.agent)}><Name text={item.title || item.taskID} most={70} /></a>
        <Which item={item} task={task} />
        <span class="need-what">{item.approval ? <Exact text={item.summary} /> : <Words text={item.summary} />}</span>
        <span class="number quiet" title={duration(age)}>{ago(age)}</span>
        {!open && <button type="button" class="plain" aria-expanded={opened} onClick={() => setOpened(!opened)}>{opened ? "close" : "open"}</button>}
      </div>
      {body && <Action item={item} isOver={isOver} />}
    </li>
  );
}

export function NeedsYou() {
  const section = useRef<HTMLElement>(null);
  const before = useRef<Shown<InboxItem>[]>([]);
  const {items, total} = inbox.value;
  // Nothing moves while a person points at the list or types in it. Checked again each second.
  const isHeld = section.current?.matches(":hover, :has(:focus-visible)") ?? false;
  const shown = arranged(before.current, items.map((item) => ({key: keyOf(item), item})), isHeld, Math.max(now.value, Date.now()));
  before.current = shown;
  if (inboxMissing.value) return <p class="missing" role="status">{inboxMissing.value}</p>;
  if (total === 0 && shown.length === 0) return null;
  return (
    <section class="needs" aria-label="Needs you" ref={section}>
      <h2>Needs you <span class="number">{total}</span>
        {notifyChoice.value === "default" && <button type="button" class="plain" onClick={() => void askToNotify()}>Notify me</button>}
      </h2>
      <ul>{shown.map(({item, key, goneAt}, index) => (
        <Guard key={key} what="need" record={item}><Item item={item} isOver={goneAt !== undefined} open={index < kFirst} /></Guard>))}</ul>
      {total > items.length && <p class="quiet">and {total - items.length} more</p>}
    </section>
  );
}
