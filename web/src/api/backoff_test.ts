import {describe, expect, test} from "vitest";
import {pauseAfter, retryAfter} from "./backoff";

describe("Retry-After", () => {
  const now = Date.parse("2026-03-01T12:00:00Z");
  test.each([["7", 7000], [" 0 ", 0], ["Sun, 01 Mar 2026 12:00:30 GMT", 30_000], ["Sun, 01 Mar 2026 11:00:00 GMT", 0], ["", undefined], ["soon", undefined], ["-1", undefined], [null, undefined]])("%j", (header, ms) => {
    expect(retryAfter(header, now)).toBe(ms);
  });
});

test("pauses double up to five minutes and are never shorter than the server asks", () => {
  expect([0, 1, 2, 3, 4].map((failures) => pauseAfter(failures))).toEqual([0, 500, 1000, 2000, 4000]);
  expect(pauseAfter(40)).toBe(300_000);
  expect(pauseAfter(1, 7000)).toBe(7000);
  expect(pauseAfter(40, 900_000)).toBe(900_000);
  expect(pauseAfter(2, 0, 15_000)).toBe(30_000);
});
