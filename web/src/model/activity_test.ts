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
