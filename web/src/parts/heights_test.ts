import {describe, expect, it} from "vitest";
import {Heights} from "./heights";

// A small seeded generator, so that a failure can be reproduced.
function random(seed: number): () => number {
  return () => {
    seed = (seed * 1664525 + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

describe("heights", () => {
  it("agrees with the naive sum, whatever happens", () => {
    const seed = Number(process.env["SEED"] ?? 7);
    const next = random(seed);
    const heights = new Heights(30);
    let naive: number[] = [];
    for (let step = 0; step < 3000; ++step) {
      const what = next();
      if (what < 0.05) {
        const length = Math.floor(next() * 3000);
        naive = Array.from({length}, (_, index) => naive[index] ?? 30);
        heights.resize(length);
      } else if (naive.length > 0) {
        const index = Math.floor(next() * naive.length);
        const height = next() < 0.3 ? 0 : Math.floor(next() * 400);
        naive[index] = height;
        heights.set(index, height);
      }
      if (step % 50 !== 0 || naive.length === 0) continue;
      const index = Math.floor(next() * naive.length);
      const top = naive.slice(0, index).reduce((sum, each) => sum + each, 0);
      expect(heights.top(index), `seed ${seed}`).toBe(top);
      const total = naive.reduce((sum, each) => sum + each, 0);
      expect(heights.total, `seed ${seed}`).toBe(total);
      const place = next() * total;
      const found = heights.at(place);
      expect(heights.top(found), `seed ${seed}`).toBeLessThanOrEqual(place);
      expect(heights.top(found) + heights.of(found), `seed ${seed}`).toBeGreaterThan(place);
    }
  });
});
