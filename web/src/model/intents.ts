// One id for one intent: whoever asks again because no answer came asks the same thing, and the server sees that it did. A
// definite answer, good or bad, ends the intent: the same words after it are a new one.

export class Intents {
  #open = new Map<string, {id: string; answer: Promise<unknown> | null}>();

  // `isLost`: after this error nobody knows whether it was done.
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
