// A tool that a model uses, as one card: folded to a line, with input, output and time inside; unfolded while a person
// must decide.
import {useMemo} from "preact/hooks";
import type {JsonObject, TaskEvent} from "../api/types";
import {isTerminal} from "../model/fold";
import {duration} from "../model/format";
import {askedOf, objectOf, outputOf, textOf} from "../model/shape";
import {now} from "../state/now";
import {Approval} from "./approval";
import type {ChatStory} from "./chat_row";
import {ChatText} from "./chat_text";
import {Clipped} from "./clipped";
import {useRecord} from "./raw";
import {Became} from "./story_row";
import {Exact, Terminal, Words} from "./text";
import {Input} from "./tool_card";

const kRows = 40;        // of an approval's input; the rest must be opened
const kOutputRows = 30;

// What the model asked for: its arguments as an object, or as it wrote them.
function inputOf(call: TaskEvent | undefined, written: string): {input: JsonObject | undefined; text: string} {
  const given = objectOf(call?.input);
  if (given) return {input: given, text: ""};
  try {
    const parsed = objectOf(JSON.parse(written));
    if (parsed) return {input: parsed, text: ""};
  } catch {
    // It is shown as text.
  }
  return {input: undefined, text: written};
}

function Time({call, result, denied, story}: {call: TaskEvent | undefined; result: TaskEvent | undefined; denied: boolean; story: ChatStory}) {
  if (denied) return <span class="outcome denied">⊘ denied</span>;
  if (!result) {
    const state = story.task.status?.state ?? "queued";
    if (isTerminal(state) || state === "paused" || !call) return <span class="outcome">no result</span>;
    return <span class="outcome">running {duration(Math.max(0, now.value - Date.parse(call.receivedAt)))}</span>;
  }
  const failed = result.type === "tool_result" ? outputOf(result).failed : objectOf(result.data)?.["failed"] === true;
  return <span class={failed ? "outcome bad" : "outcome"}>{failed ? "✕ failed" : "✓"} {result.durationMS === undefined ? "" : duration(result.durationMS)}</span>;
}

// `call` is absent if the log has only the messages (a fork, a call that never ran); `message` is the result for the
// model.
export function ChatTool({callID, call, story}: {callID: string; call: TaskEvent | undefined; story: ChatStory}) {
  const {log, chat} = story;
  const result = log.at(log.call(callID)?.result ?? 0);
  const message = log.at(chat.result(callID));
  const asked = log.at(log.asked(callID));
  const settled = log.at(log.settled(callID));
  const requested = chat.requested(callID);
  const {input, text} = useMemo(() => inputOf(call, requested?.arguments ?? ""), [call, requested]);
  const {button, record} = useRecord(story.id, [call, result ?? message].filter((each) => each !== undefined).map((each) => each.sequence));
  const tool = call?.tool ?? requested?.name ?? message?.tool ?? "tool";
  const subject = call?.summary ?? requested?.arguments ?? "";
  if (asked && story.isOpen(callID)) {
    const isOver = !(story.task.approvals?.some((each) => each.approvalID === callID) ?? false);
    return (
      <div class="card needs-you">
        <header><span class="tool">needs you</span><span class="subject"><Exact text={asked.summary} /></span></header>
        <Approval task={story.id} asked={askedOf(asked)} rows={kRows} isOver={isOver} />
      </div>
    );
  }
  const denied = textOf(settled?.data, "state") === "denied";
  const outcome = result ?? message;
  const failed = !denied && (result ? outputOf(result).failed : objectOf(message?.data)?.["failed"] === true);
  const gone = message ? chat.gone(message.sequence) : undefined;
  return (
    <details class={`card chat-tool${failed ? " failed" : denied ? " denied" : ""}${gone ? " gone" : ""}`}>
      <summary><span class="tool"><Words text={tool} /></span> <span class="subject"><Words text={subject} /></span> <Time call={call} result={outcome} denied={denied} story={story} /></summary>
      {asked && <Became id={callID} story={story} name="asked" />}
      <p class="tool-part">Input</p>
      {input ? <Input input={input} /> : text ? <pre class="output"><Exact text={text} /></pre> : <p class="quiet none">none</p>}
      <p class="tool-part">Output {button}</p>
      {message ? <ChatText task={story.id} event={message} rows={kOutputRows}>{(part) => <pre class="output"><Terminal text={part} /></pre>}</ChatText>
        : result ? <Clipped text={outputOf(result).summary || result.summary} rows={kOutputRows}>{(part) => <pre class="output"><Terminal text={part} /></pre>}</Clipped>
          : <p class="quiet none">none yet</p>}
      {record}
    </details>
  );
}
