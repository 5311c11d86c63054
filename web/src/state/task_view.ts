// One task as the page shows it: its row, the viewed part of its log, the text being written, its commands. Live events
// and pages that are read meet by number; a hole is read, never skipped.
import {signal} from "@preact/signals";
import {api, ApiError} from "../api/client";
import type {EventPage, StreamMessage, Task, TaskEvent} from "../api/types";
import {kBlock, TaskLog} from "../model/log";
import {eventOf, numberOf, objectOf, textOf} from "../model/shape";
import {onCatchUp, onMessage} from "./live";
import {put} from "./fleet";
import {ToolLog} from "./tool_log";

// The requested task if it does not exist, so that nothing follows it.
export const unknownTask = signal("");

const kEndsText = new Set(["thinking", "output", "tool_call"]);

export class TaskView {
  readonly log = new TaskLog();
  readonly task = signal<Task | null>(null);
  readonly error = signal("");
  readonly version = signal(0);      // the log changed
  readonly writing = signal<{block: string; text: string} | null>(null);
  readonly tools: ToolLog;
  #reading = new Map<number, Promise<void>>();
  #stop: (() => void)[] = [];
  #closed = new AbortController();
  #shown = false;
  #painted = false;

  // `also` gets every event that is read or received.
  constructor(readonly id: string, private readonly firstAt: number | undefined, private readonly also: (event: TaskEvent) => void = () => {}) {
    this.tools = new ToolLog(id, this.#closed.signal);
    this.#stop = [onMessage((message) => this.#take(message)), onCatchUp(() => this.#catchUp())];
    void this.#load().catch(() => {});
  }

  close(): void {
    this.#stop.forEach((stop) => stop());
    this.#closed.abort();
  }

  // Reads the missing events of [from, to]; resolves when all of them are there.
  async want(from: number, to: number): Promise<void> {
    const pages = this.log.missing(from, to);
    await Promise.all(pages.map((page) => this.#read(page.after, page.limit)));
  }

  async reloadTask(): Promise<void> {
    const task = await api.task(this.id);
    this.#setTask(task);
  }

  #setTask(task: Task): void {
    const before = this.task.peek();
    if (before && before.lastSequence > task.lastSequence) return;
    this.task.value = task;
    put(task);
    this.log.first = Math.max(1, task.firstSequence ?? 1);
    if (task.lastSequence > this.log.last) {
      this.log.last = task.lastSequence;
      this.#changed();
    }
  }

  async #load(): Promise<void> {
    try {
      const page = this.firstAt === undefined
        ? await api.events(this.id, {tail: 200}, this.#closed.signal)
        : await api.events(this.id, {after: Math.max(0, this.firstAt - 120), limit: 240}, this.#closed.signal);
      this.#add(page);
      await this.reloadTask();
      this.error.value = "";
      void this.tools.catchUp().catch(() => {});
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      const isUnknown = error instanceof ApiError && error.status === 404;
      this.error.value = isUnknown ? "There is no such task." : (error as Error).message;
      if (!isUnknown) throw error;
      unknownTask.value = this.id;
    }
  }

  // The connection is open: this reads what was committed before; later events arrive live.
  async #catchUp(): Promise<void> {
    if (!this.task.peek() || this.error.peek()) return this.#load();
    await this.reloadTask();
    await Promise.all([this.want(Math.max(this.log.first, this.log.last - kBlock), this.log.last), this.tools.catchUp()]);
  }

  #read(after: number, limit: number): Promise<void> {
    const known = this.#reading.get(after);
    if (known) return known;
    const reading = api.events(this.id, {after, limit}, this.#closed.signal)
      .then((page) => this.#add(page))
      .finally(() => this.#reading.delete(after));
    this.#reading.set(after, reading);
    return reading;
  }

  #add(page: EventPage): void {
    this.log.first = Math.max(1, page.firstSequence);
    for (const event of page.events) {
      this.log.add(event);
      this.tools.note(event);
      this.also(event);
    }
    if (page.lastSequence > this.log.last) this.log.last = page.lastSequence;
    this.#changed();
    if (this.#painted) return;
    this.#painted = true;
    // Marks the time when the first events were on the screen, for measurements of the page.
    requestAnimationFrame(() => requestAnimationFrame(() => performance.mark("first-events")));
  }

  #take(message: StreamMessage): void {
    if (message.taskID !== this.id) return;
    if (message.type === "task_event") {
      const event = eventOf(message.data);
      if (event.sequence < 1) return;
      const before = this.log.last;
      this.log.add(event);
      this.tools.note(event);
      this.also(event);
      if (kEndsText.has(event.type) || (event.type === "message" && textOf(event.data, "role") === "assistant")) this.writing.value = null;
      if (event.sequence > before + 1) void this.want(before + 1, event.sequence).catch(() => {});
      this.#changed();
    } else if (message.type === "task_update") {
      this.#setTask(message.data as unknown as Task);
    } else if (message.type === "delta") {
      const [block, text] = [textOf(message.data, "block"), textOf(message.data, "text")];
      const now = this.writing.peek();
      this.writing.value = now && now.block === block ? {block, text: now.text + text} : {block, text};
    } else if (message.type === "gap") {
      this.log.first = Math.max(this.log.first, (numberOf(objectOf(message.data)?.["to"]) ?? 0) + 1);
      this.#changed();
    }
  }

  #changed(): void {
    if (this.#shown) return;
    this.#shown = true;
    requestAnimationFrame(() => {
      this.#shown = false;
      ++this.version.value;
    });
  }
}
