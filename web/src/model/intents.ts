// One id for one intent. A request that is repeated because its answer was lost carries the same id, so the server
// recognises it. A definite answer, good or bad, ends the intent; the same text after it is a new one.

export class Intents {
  #open = new Map<string, {id: string; answer: Promise<unknown> | null}>();

  // `isLost` says whether this error leaves it open if the request was carried out.
  constructor(private readonly newID: () => string, private readonly isLost: (error: unknown) => boolean) {}

  async ask<T>(intent: string, act: (id: string) => Promise<T>): Promise<T> {
    const before = this.#open.get(intent);
    if (before?.answer) return before.answer as Promise<T>;
    const open = before ?? {id: this.newID(), answer: null};
    this.#open.set(intent, open);
    const answer = act(open.id);
    open.answer = answer;
    try {
      const got = await answer;
      this.#open.delete(intent);
      return got;
    } catch (error) {
      open.answer = null;
      if (!this.isLost(error)) this.#open.delete(intent);
      throw error;
    }
  }
}
