// Questions of an agent: its options, or a free-text answer.
import {useState} from "preact/hooks";
import {plainLine} from "../model/hidden";
import {questionsOf} from "../model/shape";
import {answerTo, cameToNothing, failureWords, followed, send, useTaskRow, type Sent} from "../state/commands";
import {mayCommand} from "../state/session";
import {Expiry, Settled, type ApprovalProps} from "./approval";
import {Words} from "./text";

function toggled(chosen: string[], label: string, many: boolean): string[] {
  if (!many) return [label];
  return chosen.includes(label) ? chosen.filter((each) => each !== label) : [...chosen, label];
}

export function Question({task, asked, isOver = false}: ApprovalProps) {
  const questions = questionsOf(asked.input);
  const [answers, setAnswers] = useState<Record<string, string[]>>({});
  const [own, setOwn] = useState<Record<string, string>>({});
  const [failure, setFailure] = useState("");
  const [sending, setSending] = useState(false);
  const [sent, setSent] = useState<Sent | null>(null);
  const row = useTaskRow(task);
  const textFor = (question: string) => own[question] || (answers[question] ?? []).join(", ");
  const complete = questions.length > 0 && questions.every((each) => textFor(each.question) !== "");

  async function answer(): Promise<void> {
    setFailure("");
    setSending(true);
    try {
      const got = await send(task, {
        kind: "answer", approvalID: asked.approvalID,
        answers: Object.fromEntries(questions.map((each) => [each.question, textFor(each.question)])),
      });
      setSent({id: got.id, kind: "answer", state: got.state, reason: got.reason});
    } catch (error) {
      setFailure(failureWords(error));
    }
    setSending(false);
  }

  const answered = sent ? followed(row, sent) : answerTo(row, asked.approvalID);
  const dead = isOver || sending || (answered !== null && !cameToNothing(answered));
  return (
    <div class="approval">
      {questions.map(({question, many, options}, index) => (
        <fieldset key={index}>
          <legend><Words text={question} /></legend>
          {options.map(({label, description}, each) => (
            <label key={each} class="check">
              <input type={many ? "checkbox" : "radio"} name={`${asked.approvalID}/${index}`} disabled={dead || !mayCommand()}
                     checked={(answers[question] ?? []).includes(label)}
                     onChange={() => setAnswers({...answers, [question]: toggled(answers[question] ?? [], label, many)})} />
              <span><Words text={label} /> {description && <span class="quiet"><Words text={description} /></span>}</span>
            </label>))}
          <input class="grow" aria-label={`Own answer: ${plainLine(question)}`} placeholder="or in your own words" value={own[question] ?? ""}
                 disabled={dead || !mayCommand()} onInput={(input) => setOwn({...own, [question]: input.currentTarget.value})} />
        </fieldset>))}
      {questions.length === 0 && <p class="quiet">The question itself is not in the log.</p>}
      {mayCommand() && (
        <div class="actions">
          <button type="button" class="primary" disabled={dead || !complete} onClick={() => void answer()}>Answer</button>
          <Expiry at={asked.expiresAt} />
        </div>
      )}
      <Settled answered={answered} isOver={isOver} failure={failure} />
    </div>
  );
}
