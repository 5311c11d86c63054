// The whole log on one line: its density, its failures and the questions to a person. A click or the arrow keys go to a
// moment; play continues from there.
import {useLayoutEffect, useMemo, useRef, useState} from "preact/hooks";
import {api} from "../api/client";
import type {Timeline} from "../api/contract";
import type {Task} from "../api/types";
import {isTerminal} from "../model/fold";
import {dayAndTime} from "../model/format";
import {markPaths} from "../model/time_marks";
import {now} from "../state/now";
import {useResource} from "../state/resource";
import {at, change} from "../state/route";
import type {TaskView} from "../state/task_view";
import {Player} from "./player";

const kBuckets = 160;
const kEveryMs = 5000;

// Read again only when the log has grown.
function useTimeline(view: TaskView, task: Task): {line: Timeline | null; missing: boolean} {
  const last = useRef(0);
  const ended = isTerminal(task.status?.state ?? "queued");
  const {value, missing} = useResource<Timeline | null>(`${view.id} ${ended}`, async (signal, old) => {
    const head = view.log.last;
    if (head === 0 || (old && head === last.current)) return old ?? null;
    const line = await api.get<Timeline>(`/tasks/${encodeURIComponent(view.id)}/timeline`, {buckets: kBuckets}, signal);
    last.current = head;
    return line;
  }, {everyMs: kEveryMs, keeps: true}).state.value;
  return {line: value ?? null, missing};
}

// Whether the log took long enough for times to distinguish its events.
function isSpread(line: Timeline | null): line is Timeline {
  return line !== null && line.buckets.filter((bucket) => bucket.events > 0).length > 1;
}

// One busy moment must not flatten all others, so heights grow with the square root.
const tall = (events: number, most: number) => Math.max(2, Math.sqrt(events / most) * 20);

// The place of an event, 0 to 1: by its time if the buckets are known, otherwise by its number.
export function placeOf(line: Timeline | null, sequence: number, first: number, last: number): number {
  if (!isSpread(line)) return last > first ? (sequence - first) / (last - first) : 1;
  const buckets = line.buckets;
  let index = buckets.findIndex((bucket) => bucket.first > sequence && bucket.events > 0);
  index = index < 0 ? buckets.length - 1 : Math.max(0, index - 1);
  while (index > 0 && buckets[index]!.events === 0) --index;
  const bucket = buckets[index]!;
  const inside = bucket.events > 0 ? Math.min(1, (sequence - bucket.first) / bucket.events) : 0;
  return Math.min(1, (index + inside) / buckets.length);
}

// The event at a place.
export function sequenceAt(line: Timeline | null, place: number, first: number, last: number): number {
  if (!isSpread(line)) return Math.round(first + place * (last - first));
  const index = Math.min(line.buckets.length - 1, Math.floor(place * line.buckets.length));
  const bucket = line.buckets[index]!;
  if (bucket.events === 0) {
    const before = line.buckets.slice(0, index).reverse().find((each) => each.events > 0);
    return before ? Math.min(last, before.first + before.events - 1) : first;
  }
  const inside = place * line.buckets.length - index;
  return Math.max(first, Math.min(last, bucket.first + Math.floor(inside * bucket.events)));
}

// The width of an element, in pixels. `isThere`: it is drawn.
function useWidth(element: {current: HTMLElement | null}, isThere: boolean): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const found = element.current;
    if (!found) return;
    const look = () => setWidth(found.clientWidth);
    look();
    const sizes = new ResizeObserver(look);
    sizes.observe(found);
    return () => sizes.disconnect();
  }, [isThere]);
  return width;
}

export function TimeBar({view, task, version}: {view: TaskView; task: Task; version: number}) {
  void version;
  const {line, missing} = useTimeline(view, task);
  const bar = useRef<HTMLDivElement>(null);
  const {first, last} = view.log;
  const moment = at.value;
  void view.tools.version.value;
  const width = useWidth(bar, last > 0);
  const failures = view.tools.use.failures();
  const marks = useMemo(() => markPaths([
    ...failures.map((sequence) => ({kind: "failed", place: placeOf(line, sequence, first, last)})),
    ...(line?.marks ?? []).map((mark) => ({kind: mark.kind, place: placeOf(line, mark.sequence, first, last)}))], width), [failures, line, first, last, width]);
  const most = Math.max(1, ...(line?.buckets.map((bucket) => bucket.events) ?? [1]));
  const place = moment === undefined ? 1 : placeOf(line, moment, first, last);

  function pick(click: {clientX: number}): void {
    const box = bar.current!.getBoundingClientRect();
    change({at: sequenceAt(line, Math.max(0, Math.min(1, (click.clientX - box.left) / box.width)), first, last)}, moment !== undefined);
  }
  function key(press: KeyboardEvent): void {
    const by = {ArrowLeft: -1, ArrowRight: 1, PageUp: -50, PageDown: 50}[press.key];
    const to = press.key === "Home" ? first : press.key === "End" ? last : by === undefined ? undefined : (moment ?? last) + by;
    if (to === undefined) return;
    press.preventDefault();
    change({at: Math.max(first, Math.min(last, to))});
  }

  if (last === 0) return null;
  return (
    <div class="time-bar">
      <Player view={view} />
      <div class="bar" ref={bar} role="slider" tabIndex={0} aria-label="Moment of the log" aria-valuemin={first} aria-valuemax={last}
           aria-valuenow={moment ?? last} aria-valuetext={moment === undefined ? `live, event ${last}` : `event ${moment} of ${last}`}
           onClick={pick} onKeyDown={key} onPointerMove={(move) => { if (move.buttons === 1) pick(move); }}>
        <svg viewBox={`0 0 ${kBuckets} 24`} preserveAspectRatio="none" aria-hidden="true">
          {line?.buckets.map((bucket, index) => bucket.events > 0 && (
            <rect key={index} class={bucket.errors > 0 ? "has-errors" : ""} x={(index * kBuckets) / line.buckets.length} width={Math.max(0.6, kBuckets / line.buckets.length - 0.25)}
                  y={24 - tall(bucket.events, most)} height={tall(bucket.events, most)} />))}
        </svg>
        <svg class="marks" width={width} height="26" aria-hidden="true">{marks.map(({kind, path}) => <path key={kind} class={`mark mark-${kind}`} d={path} />)}</svg>
        <span class={moment === undefined ? "cursor cursor-live" : "cursor"} style={{left: `${place * 100}%`}} />
      </div>
      <span class="number quiet bar-count">
        {moment === undefined ? `${last} events` : `${moment} of ${last}`}
        {missing && <span class="missing" title="This server is older than this page"> no density</span>}
      </span>
      {line?.from && line.to && <span class="hidden">from {dayAndTime(line.from, now.value)} to {dayAndTime(line.to, now.value)}</span>}
    </div>
  );
}
