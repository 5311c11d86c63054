// An approval request: the exact input, editable, and the two answers. Approving is possible once the whole input has
// been on the screen.
import {useMemo, useState} from "preact/hooks";
import type {JsonObject} from "../api/types";
import {duration} from "../model/format";
import {escapedJson} from "../model/hidden";
import {clipInput, isWhole, restWords} from "../model/input_clip";
import {choicesOf} from "../model/approval_choices";
import {objectOf, redactionsIn, type Asked} from "../model/shape";
import {answerTo, cameToNothing, can, failureWords, followed, send, settledWords, useTaskRow, type Sent} from "../state/commands";
import {useDetail} from "../state/details";
import {now} from "../state/now";
import {mayCommand} from "../state/session";
import {ExactInput} from "./exact_input";
import {Question} from "./question";
import {Exact, Words} from "./text";

export interface ApprovalProps {
  task: string;
  asked: Asked;
  rows: number;   // shown before the rest must be opened
  isOver?: boolean;  // the request is closed
}

export function Expiry({at}: {at: string}) {
  if (!at) return null;
  const left = Date.parse(at) - now.value;
  return <span class="expiry">{left > 0 ? `auto-denied in ${duration(Math.ceil(left / 1000) * 1000)}` : "time limit reached"}</span>;
}

// The outcome, shown in place of the request.
export function Settled({answered, isOver, failure}: {answered: Sent | null; isOver: boolean; failure: string}) {
  if (failure && (!answered || cameToNothing(answered))) return <p class="said bad" role="status">{failure}</p>;
  if (answered) return <p class={cameToNothing(answered) ? "said bad" : "said settled"} role="status">{settledWords(answered)}</p>;
  return isOver ? <p class="said settled" role="status">The request is closed.</p> : null;
}

// The whole input: from the event, or from its detail if the event's is cut.
function useWholeInput(task: string, asked: Asked): {input: JsonObject; missing: string; retry?: () => void; isKept: boolean} {
  const {detail, retry} = useDetail(task, asked.sequence, asked.inputIsCut);
  if (!asked.inputIsCut) return {input: asked.input, missing: "", isKept: true};
  const whole = objectOf(detail.value["input"]) ?? objectOf(objectOf(detail.value["data"])?.["input"]);
  if (detail.state === "there" && whole && detail.value["truncated"] !== true) return {input: whole, missing: "", isKept: true};
  if (detail.state === "failed") return {input: asked.input, missing: `All of the input could not be read: ${detail.error}`, retry, isKept: true};
  if (detail.state === "none" || detail.state === "there") return {input: asked.input, missing: "The input was too long; only its beginning is kept.", isKept: false};
  return {input: asked.input, missing: "reading all of the input …", isKept: true};
}

export function Approval(props: ApprovalProps) {
  return props.asked.kind === "question" ? <Question {...props} /> : <Permission {...props} />;
}

function Permission({task, asked, rows, isOver = false}: ApprovalProps) {
  const [edited, setEdited] = useState<string | null>(null);
  const [message, setMessage] = useState("");
  const [remember, setRemember] = useState("");
  const [failure, setFailure] = useState("");
  const [sending, setSending] = useState(false);
  const [sent, setSent] = useState<Sent | null>(null);
  const [opened, setOpened] = useState(false);
  const [blind, setBlind] = useState(false);
  const row = useTaskRow(task);
  const {input, missing, retry, isKept} = useWholeInput(task, asked);
  const clip = useMemo(() => {
    const all = clipInput(asked.tool, input, opened ? Infinity : rows + 2);  // two more rows fit in place of the button
    return isWhole(all) ? all : clipInput(asked.tool, input, rows);
  }, [asked.tool, input, opened, rows]);
  const redacted = useMemo(() => redactionsIn(input), [input]);
  const choices = useMemo(() => choicesOf(asked.options, asked.remember), [asked]);

  async function answer(kind: "approve" | "deny", option = ""): Promise<void> {
    let changed: JsonObject | undefined;
    if (kind === "approve" && edited !== null) {
      try {
        changed = objectOf(JSON.parse(edited));
      } catch {
        changed = undefined;
      }
      if (!changed) return setFailure("The changed input is not a JSON object; nothing was sent.");
    }
    setFailure("");
    setSending(true);
    try {
      const got = await send(task, {
        kind, approvalID: asked.approvalID,
        ...(changed ? {input: changed} : {}), ...(message ? {message} : {}), ...(remember ? {remember} : {}), ...(option ? {option} : {}),
      });
      setSent({id: got.id, kind, state: got.state, reason: got.reason});
    } catch (error) {
      setFailure(failureWords(error));
    }
    setSending(false);
  }

  const answered = sent ? followed(row, sent) : answerTo(row, asked.approvalID);
  const dead = isOver || sending || (answered !== null && !cameToNothing(answered));
  const unseen = edited === null && !isWhole(clip);
  const unshown = unseen || (missing !== "" && (isKept || !blind));
  return (
    <div class="approval">
      {edited === null ? <ExactInput parts={clip.parts} /> : (
        <label class="field">
          <span>Input as it will run</span>
          <textarea rows={Math.min(40, edited.split("\n").length + 1)} value={edited} spellcheck={false} disabled={dead}
                    onInput={(typed) => setEdited(typed.currentTarget.value)} />
        </label>
      )}
      {unseen && <button type="button" class="more" onClick={() => setOpened(true)}>{restWords(clip)}</button>}
      {missing && <p class="hold">{missing} {retry && <button type="button" class="more" onClick={retry}>try again</button>}
        {!isKept && <label class="check"><input type="checkbox" checked={blind} onChange={() => setBlind(!blind)} /><span>approve it without seeing all of it</span></label>}</p>}
      {mayCommand() ? (
        <div class="actions">
          {can(row, "approve") && choices.approve.map((each) => (
            <button key={each.id} type="button" class="primary" disabled={dead || unshown} onClick={() => void answer("approve", each.id)}><Words text={each.name} /></button>))}
          {can(row, "approve") && choices.approve.length === 0 && (
            <button type="button" class="primary" disabled={dead || unshown} onClick={() => void answer("approve")}>
              {edited === null ? "Approve" : "Approve as changed"}
            </button>)}
          {unseen && <span class="hold">open the {restWords(clip)} first</span>}
          {redacted.length > 0 && <span class="hold redacted">secrets are shown as marks; the agent uses the original text: <Exact text={redacted.slice(0, 5).join(" ")} />{redacted.length > 5 && ` and ${redacted.length - 5} more`}</span>}
          {redacted.length === 0 && asked.redacted.length > 0 && <span class="hold redacted">secrets are shown as marks; the call runs with the original text of <Exact text={asked.redacted.join(", ")} /></span>}
          {can(row, "deny") && choices.deny.map((each) => (
            <button key={each.id} type="button" disabled={dead} onClick={() => void answer("deny", each.id)}><Words text={each.name} /></button>))}
          {can(row, "deny") && choices.deny.length === 0 && <button type="button" disabled={dead} onClick={() => void answer("deny")}>Deny</button>}
          <button type="button" class="plain" disabled={dead || unshown} onClick={() => setEdited(edited === null ? escapedJson(JSON.stringify(input, null, 2)) : null)}>
            {edited === null ? "Change input" : "Keep as asked"}
          </button>
          <input class="grow" aria-label="Note to the agent" placeholder="note to the agent (optional)" value={message} disabled={dead}
                 onInput={(typed) => setMessage(typed.currentTarget.value)} />
          {asked.remember.map((rule) => (
            <label key={rule} class="check">
              <input type="checkbox" checked={remember === rule} disabled={dead} onChange={() => setRemember(remember === rule ? "" : rule)} />
              <span>always for <code><Exact text={rule} /></code></span>
            </label>
          ))}
          <Expiry at={asked.expiresAt} />
        </div>
      ) : <p class="quiet">Your token can read, but not answer.</p>}
      <Settled answered={answered} isOver={isOver} failure={failure} />
    </div>
  );
}
