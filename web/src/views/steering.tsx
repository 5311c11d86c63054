// The message box and the controls of an agent. It offers only commands that the agent accepts and follows each until
// it settles.
import {useState} from "preact/hooks";
import type {Command, CommandKind, Task} from "../api/types";
import {isTerminal} from "../model/fold";
import {cameToNothing, can, explained, failureWords, followed, send, type Sent} from "../state/commands";
import {useDraft} from "../state/drafts";
import {change, href, kChatAgent} from "../state/route";
import {mayCommand} from "../state/session";
import type {TaskView} from "../state/task_view";
import {useMode} from "./use_mode";

export function Steering({view, task, replaying}: {view: TaskView; task: Task; replaying: boolean}) {
  const mode = useMode(view, task);
  const [text, setText] = useDraft(`message/${task.id}`, "");
  const [sent, setSent] = useState<Sent[]>([]);
  const [error, setError] = useState("");
  const [stopping, setStopping] = useState(false);
  const state = task.status?.state ?? "queued";

  async function ask(command: Omit<Command, "id">): Promise<void> {
    setError("");
    try {
      const got = await send(task.id, command);
      setSent((all) => [...all.slice(-2), {id: got.id, kind: got.kind, state: got.state, reason: got.reason}]);
      // A command without effect keeps its text, so that it can be sent again.
      if ((command.kind === "steer" || command.kind === "queue" || command.guidance) && !cameToNothing(got)) setText("");
    } catch (failure) {
      setError(failureWords(failure));
    }
  }

  if (replaying) {
    return (
      <footer class="steering">
        <p class="quiet grow">You are looking at the past.</p>
        <button type="button" onClick={() => change({at: undefined})}>Back to now</button>
      </footer>
    );
  }
  const settled = (
    <span class="sent" role="status">
      {error && <span class="bad">{error}</span>}
      {sent.map((each) => followed(task, each)).map((each) => <span key={each.id} class={cameToNothing(each) ? "outcome bad" : "outcome"}>{each.kind.replace("_", " ")}: {explained(each.state, each.reason)}</span>)}
    </span>
  );
  if (isTerminal(state)) return <footer class="steering"><p class="quiet">The task has ended; no agent is left to steer.</p>
    {mayCommand() && task.agent !== kChatAgent && <a class="button" href={href({view: "new", like: task.id})}>Start it again</a>}{settled}</footer>;
  if (!mayCommand()) return <footer class="steering"><p class="quiet">Your token can read, but not steer.</p></footer>;
  const offered = (kind: CommandKind) => can(task, kind);
  return (
    <footer class="steering">
      {(offered("steer") || offered("queue")) && (
        <form class="message" onSubmit={(submit) => { submit.preventDefault(); if (text) void ask({kind: offered("steer") ? "steer" : "queue", content: text}); }}>
          <textarea data-message rows={Math.min(6, text.split("\n").length)} value={text} aria-label="Message to the agent"
                    placeholder="message to the agent  ( m )" onInput={(input) => setText(input.currentTarget.value)}
                    onKeyDown={(press) => { if (press.key === "Enter" && !press.shiftKey && text) { press.preventDefault(); void ask({kind: offered("steer") ? "steer" : "queue", content: text}); } }} />
          {offered("steer") && <button disabled={!text}>Steer now</button>}
          {offered("queue") && <button type="button" disabled={!text} onClick={() => void ask({kind: "queue", content: text})}>After this turn</button>}
        </form>
      )}
      <div class="levers">
        {offered("interrupt") && state !== "interrupted" && state !== "paused" && <button type="button" onClick={() => void ask({kind: "interrupt"})}>Interrupt</button>}
        {offered("resume") && (state === "interrupted" || state === "paused") && <button type="button" onClick={() => void ask({kind: "resume", ...(text ? {guidance: text} : {})})}>Resume</button>}
        {offered("set_mode") && (
          <select aria-label="Mode" value={mode} onChange={(input) => { const value = input.currentTarget.value; if (value) void ask({kind: "set_mode", mode: value as "autonomous" | "interactive"}); }}>
            <option value="">mode …</option><option value="interactive">asks before it acts</option><option value="autonomous">decides by itself</option>
          </select>
        )}
        {offered("stop") && (stopping
          ? <><button type="button" class="danger" onClick={() => { setStopping(false); void ask({kind: "stop"}); }}>Really stop it</button><button type="button" class="plain" onClick={() => setStopping(false)}>No</button></>
          : <button type="button" onClick={() => setStopping(true)}>Stop</button>)}
        {settled}
      </div>
    </footer>
  );
}
