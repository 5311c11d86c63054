// One task: its results and state, then its log as a story, live at the end or at any past moment.
import {useEffect, useMemo, useRef, useState} from "preact/hooks";
import {api, type Query} from "../api/client";
import {stepAfter, stepBefore, type Steps} from "../model/error_steps";
import {rowOf, toldIn} from "../model/told";
import {Notice} from "../parts/notice";
import {StoryRow, type Story} from "../parts/story_row";
import {Words} from "../parts/text";
import {VirtualList} from "../parts/virtual_list";
import {addKeys} from "../state/keys";
import {at, change, taskID} from "../state/route";
import {TaskView} from "../state/task_view";
import {SidePanel} from "./side_panel";
import {Steering} from "./steering";
import {TaskHead} from "./task_head";
import {TimeBar} from "./time_bar";
import {useLingering} from "./use_lingering";

const kFocusWithinMs = 10_000;  // a distant row is read first; a person who has gone elsewhere by then stays there
const kReadPauseMs = 60;  // a fast scroll reads where it ends, not everything it passes

const stepsOf = (view: TaskView): Steps => {
  const one = async (query: Query) => (await api.events(view.id, {types: "error", limit: 1, ...query})).events[0]?.sequence;
  return {log: view.log, use: view.tools.use, readAllCalls: () => view.tools.readAll(), errorAfter: (after) => one({after}), errorBefore: (before) => one({before})};
};

function useView(id: string): TaskView {
  const view = useMemo(() => new TaskView(id, at.peek()), [id]);
  useEffect(() => () => view.close(), [view]);
  return view;
}

export function TaskPage() {
  const id = taskID.value;
  const view = useView(id);
  const list = useRef<VirtualList>(null);
  const [follows, setFollows] = useState(at.value === undefined);
  const [side, setSide] = useState(false);
  const seen = useRef({first: 0, last: 0});
  const timer = useRef(0);
  const moment = at.value;
  const version = view.version.value;
  const writing = view.writing.value;
  const task = view.task.value;
  const log = view.log;
  const lingering = useLingering(view, (approvalID) => `.step[data-sequence="${log.asked(approvalID)}"]`);
  const isOpen = (approvalID: string) => lingering.has(approvalID);
  const rows = Math.max(0, log.last - log.first + 1);
  const indexOf = (sequence: number) => sequence - log.first;

  function readSoon(first: number, last: number): void {
    seen.current = {first: first + log.first, last: last + log.first};
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => void view.want(first + log.first - 20, last + log.first + 20).catch(() => {}), kReadPauseMs);
  }

  // The moment changed: brings it into view once it is loaded.
  useEffect(() => {
    if (moment === undefined) return;
    void view.want(moment - 20, moment + 20).then(() => {
      requestAnimationFrame(() => list.current?.show(indexOf(rowOf(log, moment, isOpen))));
    }).catch(() => {});
  }, [moment, view, task === null]);

  useEffect(() => {
    const step = (by: number) => {
      const from = at.peek() ?? (by < 0 ? log.last + 1 : log.last);
      const next = Math.max(log.first, Math.min(log.last, from + by));
      change({at: next});
    };
    // A person who has gone on meanwhile stays there.
    const toError = (find: typeof stepAfter, otherwise: number) => {
      const from = at.peek();
      void find(stepsOf(view), from ?? otherwise).then((found) => { if (found !== undefined && at.peek() === from) change({at: found}, false); }, () => {});
    };
    return addKeys([
      {key: "j", does: "down", act: () => list.current?.scrollBy(80)},
      {key: "k", does: "up", act: () => list.current?.scrollBy(-80)},
      {key: "e", does: "next error", act: () => toError(stepAfter, 0)},
      {key: "E", does: "error before", act: () => toError(stepBefore, log.last + 1)},
      {key: "[", does: "step back", act: () => step(-1)},
      {key: "]", does: "step on", act: () => step(1)},
      {key: "G", does: "to the end, live", act: () => { change({at: undefined}); list.current?.toEnd(); }},
      {key: "m", does: "message to the agent", act: () => document.querySelector<HTMLElement>("[data-message]")?.focus()},
      {key: "s", does: "side panel", act: () => setSide((open) => !open)},
    ]);
  }, [view]);

  // Goes to the item that waits for a person, however far it is, and to its first button.
  function toAnswer(sequence: number): void {
    change({at: undefined});
    void view.want(sequence - 20, sequence + 20).then(() => {
      requestAnimationFrame(() => list.current?.show(indexOf(sequence)));
      const until = performance.now() + kFocusWithinMs;
      const focused = document.activeElement;
      const look = () => {
        if (document.activeElement !== focused && document.activeElement !== document.body) return;
        const found = document.querySelector<HTMLElement>(`.step[data-sequence="${sequence}"] .approval :is(button, input)`);
        if (found) found.focus({preventScroll: true});
        else if (performance.now() < until) requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }).catch(() => {});
  }

  if (view.error.value) return <Notice heading title={view.error.value}><a href="/">Back to the fleet</a></Notice>;
  if (!task) return <Notice heading title="Reading the task …" busy />;

  const story: Story = {id, log, task, at: moment, isOpen};
  const chosenRow = moment === undefined ? 0 : rowOf(log, moment, isOpen);
  const live = writing && moment === undefined ? 1 : 0;
  return (
    <div class={side ? "task side-open" : "task"}>
      <div class="task-main">
        <TaskHead view={view} task={task} replaying={moment !== undefined} onAnswer={toAnswer} onSide={() => setSide(!side)} sideOpen={side} />
        <TimeBar view={view} task={task} version={version} />
        {rows === 0 ? <Notice title="Nothing has happened yet">{task.status?.state === "queued" && !task.status.message && "It waits for a runner."}</Notice> : (
          <div class="story">
            <VirtualList ref={list} count={rows + live} guess={44} role="feed" label="Log" follow={moment === undefined}
                         isHeld={() => document.querySelector(".story .needs-you:hover") !== null} onRange={readSoon} onFollow={setFollows}
                         keyOf={(index) => (index === rows ? "writing" : index + log.first)}
                         row={(index) => {
                           if (index === rows) return <div class="step writing"><span class="when">now</span><div class="what"><p class="prose"><Words text={writing?.text ?? ""} /></p></div></div>;
                           const event = log.at(index + log.first);
                           if (!event) return <div class="step unread" aria-busy="true"><span class="when">{index + log.first}</span><div class="what" /></div>;
                           if (toldIn(log, event, isOpen) !== event.sequence) return null;
                           return <StoryRow event={event} story={story} chosen={event.sequence === chosenRow} />;
                         }} />
            {!follows && moment === undefined && <button type="button" class="to-end" onClick={() => list.current?.toEnd()}>↓ to the end</button>}
          </div>
        )}
        <Steering view={view} task={task} replaying={moment !== undefined} />
      </div>
      <SidePanel view={view} task={task} moment={moment} version={version} />
    </div>
  );
}
