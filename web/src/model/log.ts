// The part of a task's log that the page holds: events by number, in blocks, as far as they were viewed. Numbers have
// no holes, so the page can tell what is missing and read it on demand, and live events need no special case.
import type {TaskEvent} from "../api/types";
import {textOf} from "./shape";

export const kBlock = 250;
const kMostBlocks = 120;  // kept in memory; the least recently viewed go first

interface Block {
  events: (TaskEvent | undefined)[];
  held: number;
  used: number;
}

export interface Call {
  call: number;    // sequence of the tool_call; 0 if not held
  result: number;  // sequence of its result; 0 if not held
}

function into<T>(sets: Map<string, Set<T>>, key: string, value: T): void {
  const set = sets.get(key);
  if (set) set.add(value);
  else sets.set(key, new Set([value]));
}

export class TaskLog {
  first = 1;  // the oldest event that the server keeps
  last = 0;   // the newest known event
  #blocks = new Map<number, Block>();
  #calls = new Map<string, Call>();
  #settled = new Map<string, number>();
  #approvals = new Map<string, number>();  // approvalID -> the event that requests it
  #askedOf = new Map<string, Set<string>>();  // callID -> the approvals requested for it
  #answers = new Map<string, Set<number>>();  // approvalID -> the commands that answer it
  #words = new Map<string, Set<number>>();  // an operator's text -> the commands that carry it
  #clock = 0;

  at(sequence: number): TaskEvent | undefined {
    const block = this.#blocks.get(Math.floor((sequence - 1) / kBlock));
    if (!block) return undefined;
    block.used = ++this.#clock;
    return block.events[(sequence - 1) % kBlock];
  }

  has(sequence: number): boolean {
    return this.at(sequence) !== undefined;
  }

  call(callID: string | undefined): Call | undefined {
    return callID ? this.#calls.get(callID) : undefined;
  }

  // The event that settles an approval; 0 if none is held.
  settled(approvalID: string): number {
    return this.#settled.get(approvalID) ?? 0;
  }

  // The event that requests an approval; 0 if it is not held.
  asked(approvalID: string): number {
    return this.#approvals.get(approvalID) ?? 0;
  }

  // The approvals requested for a call, in the order in which they were seen.
  approvalsOf(callID: string | undefined): string[] {
    return callID ? [...this.#askedOf.get(callID) ?? []] : [];
  }

  // The commands that answer an approval, ascending.
  answers(approvalID: string): number[] {
    return [...this.#answers.get(approvalID) ?? []].sort((a, b) => a - b);
  }

  // The newest command before `before` with this text; 0 if none is held.
  said(words: string, before: number): number {
    return Math.max(0, ...[...this.#words.get(words) ?? []].filter((each) => each < before));
  }

  add(event: TaskEvent): boolean {
    const index = Math.floor((event.sequence - 1) / kBlock);
    let block = this.#blocks.get(index);
    if (!block) {
      block = {events: new Array<TaskEvent | undefined>(kBlock), held: 0, used: ++this.#clock};
      this.#blocks.set(index, block);
      this.#makeRoom(index);
    }
    const place = (event.sequence - 1) % kBlock;
    if (block.events[place]) return false;
    block.events[place] = event;
    ++block.held;
    if (event.sequence > this.last) this.last = event.sequence;
    this.#note(event);
    return true;
  }

  // The incomplete blocks of [from, to], as the `after` and `limit` that read them.
  missing(from: number, to: number): {after: number; limit: number}[] {
    const pages: {after: number; limit: number}[] = [];
    const lowest = Math.max(from, this.first);
    const highest = Math.min(to, this.last);
    for (let index = Math.floor((lowest - 1) / kBlock); index * kBlock < highest; ++index) {
      const start = Math.max(index * kBlock + 1, this.first);
      const end = Math.min((index + 1) * kBlock, this.last);
      const block = this.#blocks.get(index);
      let after = start - 1;
      while (block && after < end && block.events[after % kBlock]) ++after;
      if (after < end) pages.push({after, limit: end - after});
    }
    return pages;
  }

  #note(event: TaskEvent): void {
    if (event.callID && (event.type === "tool_call" || event.type === "tool_result")) {
      const call = this.#calls.get(event.callID) ?? {call: 0, result: 0};
      if (event.type === "tool_call") call.call ||= event.sequence;
      else call.result ||= event.sequence;
      this.#calls.set(event.callID, call);
    }
    if (event.type === "approval") {
      const [id, state] = [textOf(event.data, "approvalID"), textOf(event.data, "state")];
      const isAsked = state === "pending" || state === "open";
      if (id) (isAsked ? this.#approvals : this.#settled).set(id, event.sequence);
      if (id && isAsked && event.callID) into(this.#askedOf, event.callID, id);
    }
    if (event.type === "command") {
      const [id, words] = [textOf(event.data, "approvalID"), textOf(event.data, "content") || textOf(event.data, "guidance")];
      if (id) into(this.#answers, id, event.sequence);
      if (words) into(this.#words, words, event.sequence);
    }
  }

  #makeRoom(keep: number): void {
    if (this.#blocks.size <= kMostBlocks) return;
    let oldest = -1;
    let used = Infinity;
    for (const [index, block] of this.#blocks) {
      if (index !== keep && block.used < used) [oldest, used] = [index, block.used];
    }
    this.#blocks.delete(oldest);
  }
}
