// One chat session as the page shows it: the log of its task, what that says of the conversation, and the answer that the
// model is writing.
import {signal} from "@preact/signals";
import {api, ApiError} from "../api/client";
import {chatApi, type ChatStatus} from "../api/chat";
import type {StreamMessage, TaskEvent} from "../api/types";
import {ChatLog, isFinal, roleOf} from "../model/chat_log";
import {LiveAnswer} from "../model/live_answer";
import {eventOf} from "../model/shape";
import {onCatchUp, onMessage} from "./live";
import {hasModel, lookForModel} from "./model";
import {TaskView} from "./task_view";

const kPage = 5000;
const kStatusPauseMs = 400;  // between two looks at the answer after lost pieces

export class ChatView {
  readonly chat = new ChatLog();
  readonly live = new LiveAnswer();
  readonly view: TaskView;
  readonly status = signal<ChatStatus | null>(null);
  readonly written = signal(0);  // the live answer changed
  // Spoken once: the end of an answer, an error. The streaming text itself is not.
  readonly spoken = signal<TaskEvent | null>(null);
  #stop: (() => void)[] = [];
  #closed = new AbortController();
  #drawn = false;
  #asked = 0;      // when the status was last asked for
  #repairing = 0;  // the timer of the next time

  constructor(readonly id: string, at: number | undefined) {
    this.view = new TaskView(id, at, (event) => this.chat.note(event));
    this.#stop = [onMessage((message) => this.#take(message)), onCatchUp(() => this.#catchUp())];
    void this.#catchUp().catch(() => {});
  }

  close(): void {
    this.#stop.forEach((stop) => stop());
    this.#closed.abort();
    clearTimeout(this.#repairing);
    this.view.close();
  }

  // The parts of the log that the head and the greyed rows need, wherever they are.
  async #catchUp(): Promise<void> {
    const {signal: closed} = this.#closed;
    const note = (events: TaskEvent[]) => events.forEach((event) => this.chat.note(event));
    const tail = async (types: string) => note((await api.events(this.id, {types, tail: 1}, closed)).events);
    const evictions = async () => {
      for (let after: number | undefined = 0; after !== undefined;) {
        const page: Awaited<ReturnType<typeof api.events>> = await api.events(this.id, {types: "eviction", after, limit: kPage}, closed);
        note(page.events);
        after = page.nextAfter;
      }
    };
    try {
      await Promise.all([tail("session_start"), tail("usage"), evictions(), this.#readStatus()]);
    } catch (error) {
      if (closed.aborted || (error instanceof ApiError && error.status === 404)) return;
      throw error;
    }
    ++this.view.version.value;
  }

  async #readStatus(): Promise<void> {
    this.#asked = Date.now();
    if (!(hasModel.peek() ?? await lookForModel())) return;
    // A session would be created by asking for it, so its task must be there.
    await api.task(this.id);
    const status = await chatApi.status(this.id, this.#closed.signal);
    this.status.value = status;
    this.live.restore(status.answer, this.chat.said);
    this.#draw();
  }

  #take(message: StreamMessage): void {
    if (message.taskID !== this.id) return;
    if (message.type === "delta") {
      this.live.take(message.data);
      if (this.live.isBroken) this.#repairSoon();
      this.#draw();
    } else if (message.type === "task_event") {
      const event = eventOf(message.data);
      if (roleOf(event) !== "assistant" && !isFinal(event)) return;
      this.live.finish();
      if (isFinal(event)) this.spoken.value = event;
      this.#draw();
    }
  }

  // Live text was lost: reads what there is, and again if that is older than the loss.
  #repairSoon(): void {
    if (this.#repairing || this.#closed.signal.aborted) return;
    this.#repairing = window.setTimeout(() => {
      this.#readStatus().catch(() => {}).finally(() => {
        this.#repairing = 0;
        if (this.live.isBroken) this.#repairSoon();
      });
    }, Math.max(0, this.#asked + kStatusPauseMs - Date.now()));
  }

  #draw(): void {
    if (this.#drawn) return;
    this.#drawn = true;
    requestAnimationFrame(() => {
      this.#drawn = false;
      ++this.written.value;
    });
  }
}
