import {expect, it} from "vitest";
import {Lingering} from "./lingering";
import {kStayMs} from "./needs_order";

it("what was answered stays for a moment, and under the pointer longer", () => {
  const lingering = new Lingering();
  let held = false;
  const look = (open: string[], now: number) => lingering.look(open, now, () => held);
  look(["a"], 0);
  look(["a"], 100_000);
  expect(lingering.has("a")).toBe(true);
  look([], 100_000);
  look([], 100_000 + kStayMs - 1);
  expect(lingering.has("a")).toBe(true);
  held = true;
  look([], 200_000);
  expect(lingering.has("a")).toBe(true);
  held = false;
  look([], 200_001);
  expect(lingering.has("a")).toBe(false);
  expect(lingering.size).toBe(0);
});

it("one that comes back is open again", () => {
  const lingering = new Lingering();
  lingering.look(["a"], 0, () => false);
  lingering.look([], 1, () => false);
  lingering.look(["a"], 2, () => false);
  lingering.look(["a"], 10 * kStayMs, () => false);
  expect(lingering.has("a")).toBe(true);
});

it("goes when its moment is over, and others stay", () => {
  const lingering = new Lingering();
  lingering.look(["a", "b"], 0, () => false);
  lingering.look(["b"], 5, () => false);
  lingering.look(["b"], 4 + kStayMs, () => false);
  expect([lingering.has("a"), lingering.has("b"), lingering.size]).toEqual([true, true, 2]);
  lingering.look(["b"], 5 + kStayMs, (id) => id === "b");
  expect([lingering.has("a"), lingering.has("b"), lingering.size]).toEqual([false, true, 1]);
});
