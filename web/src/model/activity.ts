// Events per slice of time for each task, from how far its numbers moved: what a sparkline shows.
export const kSlices = 30;
export const kSliceMs = 10_000;

export class Activity {
  #slices = new Map<string, {newest: number; counts: number[]}>();

  note(task: string, last: number, before: number | undefined, now: number): void {
    if (before === undefined || last <= before) return;
    const entry = this.#at(task, now);
    entry.counts[kSlices - 1]! += last - before;
  }

  // Oldest first.
  counts(task: string, now: number): readonly number[] {
    return this.#slices.has(task) ? this.#at(task, now).counts : [];
  }

  #at(task: string, now: number): {newest: number; counts: number[]} {
    const slice = Math.floor(now / kSliceMs);
    let entry = this.#slices.get(task);
    if (!entry) {
      entry = {newest: slice, counts: new Array<number>(kSlices).fill(0)};
      this.#slices.set(task, entry);
    }
    const moved = Math.min(slice - entry.newest, kSlices);
    for (let i = 0; i < moved; ++i) {
      entry.counts.shift();
      entry.counts.push(0);
    }
    entry.newest = Math.max(slice, entry.newest);
    return entry;
  }
}
