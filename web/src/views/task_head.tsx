// The top of a task: what it is, its state, its results and what it waits for.
import {api} from "../api/client";
import type {JsonObject, Task} from "../api/types";
import {titleOf} from "../model/fleet_rows";
import {isTerminal} from "../model/fold";
import {objectOf} from "../model/shape";
import {Leaves, OutLink} from "../parts/outcome";
import {StateMark} from "../parts/state_mark";
import {Exact, Words} from "../parts/text";
import {href, kChatAgent} from "../state/route";
import {useResource} from "../state/resource";
import type {TaskView} from "../state/task_view";

// The newest `result`: read once, and again at the end.
function useResult(view: TaskView, task: Task): JsonObject | null {
  const ended = isTerminal(task.status?.state ?? "queued");
  const found = useResource(`${view.id} ${ended}`, (signal) => api.events(view.id, {types: "result", tail: 1}, signal), {keeps: true}).state.value.value;
  return objectOf(found?.events[found.events.length - 1]?.data) ?? null;
}

export function TaskHead({view, task, replaying, onAnswer, onSide, sideOpen}: {
  view: TaskView; task: Task; replaying: boolean; onAnswer: (sequence: number) => void; onSide: () => void; sideOpen: boolean;
}) {
  const result = useResult(view, task);
  const state = task.status?.state ?? "queued";
  const open = task.approvals ?? [];
  const words = isTerminal(state) ? task.status?.error || task.status?.message : task.activity;
  return (
    <header class="task-head">
      <div class="task-title">
        <a class="back" href="/" aria-label="Back to the fleet">←</a>
        <h1><Words text={titleOf(task)} /></h1>
        <StateMark state={state} />{replaying && <span class="quiet">now</span>}
        {task.agent === kChatAgent && <a href={href({chat: task.id})}>Chat</a>}
        <button type="button" class="plain side-button" aria-expanded={sideOpen} onClick={onSide}>Details</button>
      </div>
      {/* What the task waits for is shown below; at a past moment, its current activity would confuse. */}
      {open.length === 0 && !replaying && words && <p class="task-now"><Words text={words} /></p>}
      {state === "queued" && !replaying && task.status?.message && <p class="hold"><Words text={task.status.message} /></p>}
      {(task.status?.prURL || result) && (
        <div class="task-leaves">
          {task.status?.prURL && !result?.["prURL"] && <p><OutLink url={task.status.prURL} /></p>}
          {result && <Leaves data={result} />}
        </div>
      )}
      {open.map((approval) => (
        <p key={approval.approvalID} class="needs-line">
          <span class="need-kind">{approval.kind === "question" ? "question" : "approval"}</span> <Exact text={approval.summary ?? approval.tool ?? ""} />
          {" "}<a href={href({task: task.id, at: approval.sequence})} onClick={(click) => { click.preventDefault(); onAnswer(approval.sequence ?? task.lastSequence); }}>answer</a>
        </p>
      ))}
    </header>
  );
}
