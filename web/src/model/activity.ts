// Events per time slice for each task, derived from its sequence numbers. A sparkline shows them.
export const kSlices = 30;
export const kSliceMs = 10_000;

interface Entry {
  newest: number;   // the slice of the last count
  counts: number[];
  since: number;    // events after this time were counted live
  seeded: boolean;
}

export class Activity {
  #slices = new Map<string, Entry>();

  note(task: string, last: number, before: number | undefined, now: number): void {
    if (before === undefined || last <= before) return;
    const entry = this.#at(task, now);
    entry.counts[kSlices - 1]! += last - before;
  }

  // Adds the times of events from before the page counted. Events that were counted live are not counted again.
  seed(task: string, times: readonly number[], now: number): void {
    const entry = this.#at(task, now);
    if (entry.seeded) return;
    entry.seeded = true;
    for (const time of times) {
      const age = entry.newest - Math.floor(time / kSliceMs);
      if (time < entry.since && age >= 0 && age < kSlices) ++entry.counts[kSlices - 1 - age]!;
    }
  }

  // Oldest first.
  counts(task: string, now: number): readonly number[] {
    return this.#slices.has(task) ? this.#at(task, now).counts : [];
  }

  #at(task: string, now: number): Entry {
    const slice = Math.floor(now / kSliceMs);
    let entry = this.#slices.get(task);
    if (!entry) {
      entry = {newest: slice, counts: new Array<number>(kSlices).fill(0), since: now, seeded: false};
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
