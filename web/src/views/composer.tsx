// The field for the next prompt. Enter sends, Shift+Enter begins a line. While the model answers, the text is for the
// running turn or for one of its own.
import {useEffect, useRef, useState} from "preact/hooks";
import {chatApi} from "../api/chat";
import type {Task} from "../api/types";
import {beginChat} from "../state/chat_acts";
import {cameToNothing, explained, failureWords, send} from "../state/commands";
import {readDraft, useKeptDraft} from "../state/kept_draft";
import {hasModel} from "../state/model";
import {go} from "../state/route";
import {mayCommand} from "../state/session";

const kMostRows = 14;
const kPhone = "(max-width: 700px)";

export function Composer({task, running, ended, onSent}: {task: Task | undefined; running: boolean; ended: boolean; onSent: () => void}) {
  const draft = `chat/${task?.id ?? "new"}`;
  const [text, setText] = useKeptDraft(draft);
  const [now, setNow] = useState(false);
  const [said, setSaid] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  // On a phone the keyboard would cover what the person came to read.
  useEffect(() => { if (!matchMedia(kPhone).matches) field.current?.focus({preventScroll: true}); }, [task?.id]);

  async function write(): Promise<void> {
    const prompt = text;
    if (prompt.trim() === "") return;
    setSaid("");
    setText("");  // the next one can be written at once
    // A prompt without effect comes back, so that it can be sent again; what was written meanwhile stays.
    const back = (why: string) => {
      setSaid(why);
      setText([prompt, readDraft(draft)].filter(Boolean).join("\n\n"));
    };
    try {
      if (!task) return go({chat: (await beginChat(prompt)).id});
      const got = await send(task.id, {kind: running && now ? "steer" : "queue", content: prompt});
      if (cameToNothing(got)) back(explained(got.state, got.reason));
      onSent();
    } catch (error) {
      back(failureWords(error));
    }
  }

  async function stop(): Promise<void> {
    setSaid("");
    await chatApi.cancel(task!.id).then((cancelled) => { if (!cancelled) setSaid("No turn was running."); }, (error: unknown) => setSaid((error as Error).message));
  }

  const why = ended ? "This chat has ended. Fork it from an answer to go on." : !mayCommand() ? "Your token can read, but not write." : hasModel.value === false ? "This server has no model now; the chat can be read." : "";
  if (why) return <footer class="composer"><p class="quiet">{why}</p></footer>;
  return (
    <footer class="composer">
      <form onSubmit={(submit) => { submit.preventDefault(); void write(); }}>
        <textarea ref={field} data-message rows={Math.min(kMostRows, text.split("\n").length)} value={text} aria-label="Prompt" placeholder={running ? "message for this turn, or the next prompt  ( m )" : "prompt  ( m )"}
                  onInput={(input) => setText(input.currentTarget.value)}
                  onKeyDown={(press) => { if (press.key === "Enter" && !press.shiftKey && !press.isComposing) { press.preventDefault(); void write(); } }} />
        <div class="levers">
          {running && (
            <fieldset class="choice"><legend class="hidden">When the model gets it</legend>
              <label class="check"><input type="radio" name="when" checked={!now} onChange={() => setNow(false)} /><span>After this turn</span></label>
              <label class="check"><input type="radio" name="when" checked={now} onChange={() => setNow(true)} /><span>Now</span></label>
            </fieldset>)}
          <span class="said bad" role="status">{said}</span>
          <span class="grow" />
          {running && task && <button type="button" class="danger" onClick={() => void stop()}>Stop</button>}
          <button class="primary-neutral" disabled={text.trim() === ""}>Send</button>
        </div>
      </form>
    </footer>
  );
}
