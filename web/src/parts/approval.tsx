// Something the agent may not do without a person: the exact input, changeable, and the two answers.
import {useState} from "preact/hooks";
import type {JsonObject} from "../api/types";
import {withEscapedControls} from "../model/bidi";
import {duration} from "../model/format";
import {textOf} from "../model/fold";
import {answerTo, cameToNothing, can, explained, followed, send, useTaskRow, type Sent} from "../state/commands";
import {now} from "../state/now";
import {mayCommand} from "../state/session";
import {Diff} from "./diff";
import {Question} from "./question";
import {Input} from "./tool_card";
import {Words} from "./text";

export interface Asked {
  approvalID: string;
  kind?: string | undefined;
  tool?: string | undefined;
  input?: JsonObject | undefined;
  expiresAt?: string | undefined;
  remember?: string[] | undefined;
}

// What would happen, as it would happen.
function Exact({asked}: {asked: Asked}) {
  const input = asked.input ?? {};
  if (asked.tool === "Bash") return <pre class="command"><Words text={textOf(input, "command")} /></pre>;
  if (typeof input["new_string"] === "string" || (asked.tool === "Write" && typeof input["content"] === "string")) {
    return (
      <>
        <p class="path"><Words text={textOf(input, "file_path")} /></p>
        <Diff before={textOf(input, "old_string")} after={textOf(input, "new_string") || textOf(input, "content")} numbers={asked.tool === "Write"} />
      </>
    );
  }
  if (typeof input["plan"] === "string") return <p class="prose"><Words text={textOf(input, "plan")} /></p>;
  return <Input input={input} />;
}

export function Expiry({at}: {at: string | undefined}) {
  if (!at) return null;
  const left = Date.parse(at) - now.value;
  return <span class="expiry">{left > 0 ? `denied by itself in ${duration(Math.ceil(left / 1000) * 1000)}` : "its time is over"}</span>;
}

export function Approval({task, asked, autoFocus}: {task: string; asked: Asked; autoFocus?: boolean}) {
  const [edited, setEdited] = useState<string | null>(null);
  const [message, setMessage] = useState("");
  const [remember, setRemember] = useState("");
  const [said, setSaid] = useState("");
  const [sending, setSending] = useState(false);
  const [sent, setSent] = useState<Sent | null>(null);
  const row = useTaskRow(task);
  if (asked.kind === "question") return <Question task={task} asked={asked} />;

  async function answer(kind: "approve" | "deny"): Promise<void> {
    let input: JsonObject | undefined;
    if (kind === "approve" && edited !== null) {
      try {
        input = JSON.parse(edited) as JsonObject;
      } catch {
        setSaid("The changed input is not JSON; nothing was sent.");
        return;
      }
    }
    setSaid("");
    setSending(true);
    try {
      const got = await send(task, {
        kind, approvalID: asked.approvalID,
        ...(input ? {input} : {}), ...(message ? {message} : {}), ...(remember ? {remember} : {}),
      });
      setSent({id: got.id, kind, state: got.state, reason: got.reason});
    } catch (error) {
      setSaid((error as Error).message);
    }
    setSending(false);
  }

  const answered = sent ? followed(row, sent) : answerTo(row, asked.approvalID);
  const busy = sending || (answered !== null && !cameToNothing(answered));
  const words = said || (answered && `${answered.kind === "approve" ? "Approved" : "Denied"}: ${explained(answered.state, answered.reason)}`);
  return (
    <div class="approval">
      {edited === null ? <Exact asked={asked} /> : (
        <label class="field">
          <span>Input as it will run</span>
          <textarea rows={Math.min(14, edited.split("\n").length + 1)} value={edited} spellcheck={false}
                    onInput={(input) => setEdited(input.currentTarget.value)} />
        </label>
      )}
      {mayCommand() ? (
        <div class="actions">
          {can(row, "approve") && (
            <button type="button" class="primary" disabled={busy} autofocus={autoFocus} onClick={() => void answer("approve")}>
              {edited === null ? "Approve" : "Approve as changed"}
            </button>)}
          {can(row, "deny") && <button type="button" disabled={busy} onClick={() => void answer("deny")}>Deny</button>}
          <button type="button" class="plain" disabled={busy} onClick={() => setEdited(edited === null ? withEscapedControls(JSON.stringify(asked.input ?? {}, null, 2)) : null)}>
            {edited === null ? "Change input" : "Keep as asked"}
          </button>
          <input class="grow" aria-label="A word to the agent" placeholder="a word to the agent (optional)" value={message}
                 onInput={(input) => setMessage(input.currentTarget.value)} />
          {asked.remember?.map((rule) => (
            <label key={rule} class="check">
              <input type="checkbox" checked={remember === rule} onChange={() => setRemember(remember === rule ? "" : rule)} />
              <span>always for <code><Words text={rule} /></code></span>
            </label>
          ))}
          <Expiry at={asked.expiresAt} />
        </div>
      ) : <p class="quiet">Your token may look, but not answer.</p>}
      {words && <p class="said" role="status">{words}</p>}
    </div>
  );
}
