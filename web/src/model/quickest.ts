// For tests: how long work takes at best, in milliseconds. What is slow is slow each time; a busy machine is not.
export function quickest(work: () => unknown, tries = 3): number {
  let best = Infinity;
  for (let n = 0; n < tries; ++n) {
    const begun = performance.now();
    work();
    best = Math.min(best, performance.now() - begun);
  }
  return best;
}
