import {expect, test} from "vitest";
import {Activity, kSlices, kSliceMs} from "./activity";

const kNow = 1_000_000 * kSliceMs;

test("what comes is counted now, and moves into the past", () => {
  const activity = new Activity();
  activity.note("t", 5, 3, kNow);
  expect(activity.counts("t", kNow)[kSlices - 1]).toBe(2);
  expect(activity.counts("t", kNow + 2 * kSliceMs)[kSlices - 3]).toBe(2);
  expect(activity.counts("t", kNow + kSlices * kSliceMs).every((each) => each === 0)).toBe(true);
});

test("what happened before is counted where it happened, once", () => {
  const activity = new Activity();
  activity.note("t", 2, 1, kNow);
  activity.seed("t", [kNow - 100 * kSliceMs, kNow - kSliceMs, kNow - kSliceMs, kNow], kNow + 5);
  activity.seed("t", [kNow - kSliceMs], kNow + 5);
  const counts = activity.counts("t", kNow + 5);
  expect(counts[kSlices - 1]).toBe(1);
  expect(counts[kSlices - 2]).toBe(2);
  expect(counts.reduce((all, each) => all + each, 0)).toBe(3);
});

test("what does not move counts nothing, and what is older than the slices is left out", () => {
  const activity = new Activity();
  activity.note("t", 5, undefined, kNow);
  activity.note("t", 5, 5, kNow);
  activity.note("t", 4, 5, kNow);
  expect(activity.counts("t", kNow)).toEqual([]);
  activity.seed("t", [kNow - kSlices * kSliceMs, kNow - (kSlices - 1) * kSliceMs, kNow - 1, kNow, kNow + 1, kNow + kSliceMs], kNow + 1);
  const counts = activity.counts("t", kNow + 1);
  expect(counts).toHaveLength(kSlices);
  expect([counts[0], counts[1], counts[kSlices - 2], counts[kSlices - 1]]).toEqual([1, 0, 1, 1]);
});

test("a moment before the newest one is counted to the newest", () => {
  const activity = new Activity();
  activity.note("t", 2, 1, kNow);
  activity.note("t", 3, 2, kNow - 3 * kSliceMs);
  expect(activity.counts("t", kNow)[kSlices - 1]).toBe(2);
  activity.note("t", 4, 3, kNow + kSliceMs);
  expect(activity.counts("t", kNow + kSliceMs).slice(-2)).toEqual([2, 1]);
});
