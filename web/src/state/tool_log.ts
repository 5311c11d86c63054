// A task's tool calls and results, apart from the rest of its log: the newest page at once, older ones on demand.
import {signal} from "@preact/signals";
import {api} from "../api/client";
import type {EventPage, TaskEvent} from "../api/types";
import {ToolUse} from "../model/tool_use";

const kTypes = "tool_call,tool_result";
const kPage = 5000;

export class ToolLog {
  readonly use = new ToolUse();
  readonly version = signal(0);
  readonly reading = signal(false);
  #through = -1;  // everything up to this event was read; -1 if nothing was

  constructor(readonly id: string, private readonly closed: AbortSignal) {}

  // Called for every event that another part reads or receives.
  note(event: TaskEvent): void {
    this.use.add(event);
    if (event.sequence === this.#through + 1) ++this.#through;
  }

  // Reads what was missed; the first time, the newest page.
  async catchUp(): Promise<void> {
    if (this.#through < 0) {
      const page = await this.#read({tail: kPage});
      this.use.from = page.nextBefore ?? 1;
      this.#through = Math.max(this.#through, page.lastSequence);
    } else {
      for (let after: number | undefined = this.#through; after !== undefined;) {
        const page: EventPage = await this.#read({after, limit: kPage});
        after = page.nextAfter;
        this.#through = Math.max(this.#through, after ?? page.lastSequence);
      }
    }
    ++this.version.value;
  }

  async readAll(): Promise<void> {
    if (this.reading.value) return;
    this.reading.value = true;
    try {
      while (this.use.from > 1) {
        const page = await this.#read({before: this.use.from, limit: kPage});
        this.use.from = page.nextBefore ?? 1;
        ++this.version.value;
      }
    } finally {
      this.reading.value = false;
    }
  }

  async #read(query: Record<string, number>): Promise<EventPage> {
    const page = await api.events(this.id, {types: kTypes, ...query}, this.closed);
    page.events.forEach((event) => this.use.add(event));
    return page;
  }
}
