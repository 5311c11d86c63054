// For tests: the best time of several runs, in milliseconds. Slow code is slow each time; a busy machine is not.
export function quickest(work: () => unknown, tries = 3): number {
  let best = Infinity;
  for (let n = 0; n < tries; ++n) {
    const begun = performance.now();
    work();
    best = Math.min(best, performance.now() - begun);
  }
  return best;
}
