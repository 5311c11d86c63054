// Questions of an agent: its options, or words of one's own.
import {useState} from "preact/hooks";
import type {JsonObject} from "../api/types";
import {textOf} from "../model/fold";
import {answerTo, cameToNothing, explained, followed, send, useTaskRow, type Sent} from "../state/commands";
import {mayCommand} from "../state/session";
import {Expiry, type Asked} from "./approval";
import {Words} from "./text";

function toggled(chosen: string[], label: string, many: boolean): string[] {
  if (!many) return [label];
  return chosen.includes(label) ? chosen.filter((each) => each !== label) : [...chosen, label];
}

export function Question({task, asked}: {task: string; asked: Asked}) {
  const questions = Array.isArray(asked.input?.["questions"]) ? (asked.input["questions"] as JsonObject[]) : [];
  const [answers, setAnswers] = useState<Record<string, string[]>>({});
  const [own, setOwn] = useState<Record<string, string>>({});
  const [said, setSaid] = useState("");
  const [sending, setSending] = useState(false);
  const [sent, setSent] = useState<Sent | null>(null);
  const row = useTaskRow(task);
  const textFor = (question: string) => own[question] || (answers[question] ?? []).join(", ");
  const complete = questions.length > 0 && questions.every((each) => textFor(textOf(each, "question")) !== "");

  async function answer(): Promise<void> {
    setSaid("");
    setSending(true);
    try {
      const got = await send(task, {
        kind: "answer", approvalID: asked.approvalID,
        answers: Object.fromEntries(questions.map((each) => [textOf(each, "question"), textFor(textOf(each, "question"))])),
      });
      setSent({id: got.id, kind: "answer", state: got.state, reason: got.reason});
    } catch (error) {
      setSaid((error as Error).message);
    }
    setSending(false);
  }

  const answered = sent ? followed(row, sent) : answerTo(row, asked.approvalID);
  const busy = sending || (answered !== null && !cameToNothing(answered));
  const words = said || (answered && `Answered: ${explained(answered.state, answered.reason)}`);

  return (
    <div class="approval">
      {questions.map((each) => {
        const question = textOf(each, "question");
        const options = Array.isArray(each["options"]) ? (each["options"] as JsonObject[]) : [];
        const many = each["multiSelect"] === true;
        return (
          <fieldset key={question}>
            <legend><Words text={question} /></legend>
            {options.map((option) => {
              const label = textOf(option, "label");
              return (
                <label key={label} class="check">
                  <input type={many ? "checkbox" : "radio"} name={`${asked.approvalID}/${question}`} disabled={busy || !mayCommand()}
                         checked={(answers[question] ?? []).includes(label)}
                         onChange={() => setAnswers({...answers, [question]: toggled(answers[question] ?? [], label, many)})} />
                  <span><Words text={label} /> {textOf(option, "description") && <span class="quiet"><Words text={textOf(option, "description")} /></span>}</span>
                </label>
              );
            })}
            <input class="grow" aria-label={`Own answer: ${question}`} placeholder="or in your own words" value={own[question] ?? ""}
                   disabled={busy || !mayCommand()} onInput={(input) => setOwn({...own, [question]: input.currentTarget.value})} />
          </fieldset>
        );
      })}
      {questions.length === 0 && <p class="quiet">The question itself is not in the log.</p>}
      {mayCommand() && (
        <div class="actions">
          <button type="button" class="primary" disabled={busy || !complete} onClick={() => void answer()}>Answer</button>
          <Expiry at={asked.expiresAt} />
        </div>
      )}
      {words && <p class="said" role="status">{words}</p>}
    </div>
  );
}
