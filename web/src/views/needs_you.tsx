// Pinned above the fleet: what waits for a person, most urgent first, with the action right there.
import {useEffect, useState} from "preact/hooks";
import {api} from "../api/client";
import type {InboxItem} from "../api/contract";
import type {JsonObject} from "../api/types";
import {ago, duration} from "../model/format";
import {Approval} from "../parts/approval";
import {Name, Words} from "../parts/text";
import {cameToNothing, can, explained, followed, send, useTaskRow, type Sent} from "../state/commands";
import {askToNotify, inbox, inboxMissing, notifyChoice, refreshInbox} from "../state/inbox";
import {now} from "../state/now";
import {href} from "../state/route";
import {mayCommand} from "../state/session";

const kWord: Record<InboxItem["kind"], string> = {
  approval: "approval", question: "question", waiting: "waiting for input", stalled: "stalled", failed: "failed",
};
const kFirst = 3;  // shown whole; the others as one line each until they are opened

// A word to an agent that waits for one, or has gone quiet.
function Reply({item}: {item: InboxItem}) {
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
      setFailure((error as Error).message);
    }
  }
  if (!mayCommand() || !can(row, kind)) return null;
  const now = sent && followed(row, sent);
  const said = failure || (now && explained(now.state, now.reason));
  return (
    <form class="actions" onSubmit={(submit) => { submit.preventDefault(); void reply(); }}>
      <input class="grow" value={text} aria-label={`Message to ${item.title}`} placeholder="message to the agent" onInput={(input) => setText(input.currentTarget.value)} />
      <button class={item.kind === "waiting" ? "primary" : ""} disabled={!text}>Send</button>
      {said && <span class="said" role="status">{said}</span>}
    </form>
  );
}

function Look({item}: {item: InboxItem}) {
  const [said, setSaid] = useState("");
  async function dismiss(): Promise<void> {
    try {
      await api.post("/inbox/dismiss", {taskID: item.taskID});
      await refreshInbox();
    } catch (error) {
      setSaid((error as Error).message);
    }
  }
  return (
    <div class="actions">
      <a class="button" href={href({task: item.taskID, at: item.sequence || undefined})}>Look</a>
      {mayCommand() && item.kind !== "waiting" && <button type="button" onClick={() => void dismiss()}>Dismiss</button>}
      {said && <span class="said" role="status">{said}</span>}
    </div>
  );
}

function Action({item}: {item: InboxItem}) {
  const [remember, setRemember] = useState<string[] | undefined>();
  const approval = item.approval;
  useEffect(() => {
    if (!approval || !item.sequence) return;
    // The rules that may be remembered are in the event alone.
    api.get<{data?: JsonObject}>(`/tasks/${encodeURIComponent(item.taskID)}/events/${item.sequence}`).then((event) => {
      const rules = event.data?.["remember"];
      if (Array.isArray(rules)) setRemember(rules as string[]);
    }, () => {});
  }, [approval?.approvalID]);
  if (approval) return <Approval task={item.taskID} asked={{...approval, expiresAt: approval.expiresAt ?? undefined, remember}} />;
  return <div class="ways">{item.kind !== "failed" && <Reply item={item} />}<Look item={item} /></div>;
}

function Item({item, open}: {item: InboxItem; open: boolean}) {
  const [opened, setOpened] = useState(open);
  const age = Math.max(0, now.value - Date.parse(item.since));
  const body = opened || open;
  return (
    <li class="need">
      <div class="need-head">
        <span class="need-kind">{kWord[item.kind]}</span>
        <a class="need-title" href={href({task: item.taskID})}><Name text={item.title || item.taskID} most={70} /></a>
        <span class="need-what"><Words text={item.summary} /></span>
        <span class="number quiet" title={duration(age)}>{ago(age)}</span>
        {!open && <button type="button" class="plain" aria-expanded={opened} onClick={() => setOpened(!opened)}>{opened ? "close" : "open"}</button>}
      </div>
      {body && <Action item={item} />}
    </li>
  );
}

export function NeedsYou() {
  const {items, total} = inbox.value;
  if (inboxMissing.value) return <p class="missing" role="status">{inboxMissing.value}</p>;
  if (total === 0) return null;
  return (
    <section class="needs" aria-label="Needs you">
      <h2>Needs you <span class="number">{total}</span>
        {notifyChoice.value === "default" && <button type="button" class="plain" onClick={() => void askToNotify()}>Notify me</button>}
      </h2>
      <ul>{items.map((item, index) => <Item key={`${item.taskID}/${item.kind}/${item.approval?.approvalID ?? ""}`} item={item} open={index < kFirst} />)}</ul>
      {total > items.length && <p class="quiet">and {total - items.length} more</p>}
    </section>
  );
}
