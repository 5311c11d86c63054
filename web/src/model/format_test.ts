import {describe, expect, it} from "vitest";
import {ago, clockTime, cost, count, dayAndTime, duration, middle, money} from "./format";

describe("format", () => {
  it("durations", () => {
    expect([0, 950, 1500, 42_000, 61_000, 3_720_000, 90_000_000].map(duration)).toEqual(
      ["0 ms", "950 ms", "1.5 s", "42 s", "1 m 01 s", "1 h 02 m", "1 d 1 h"]);
    expect(duration(-1)).toBe("");
  });
  it("ages", () => expect([0, 30_000, 300_000, 7_200_000].map(ago)).toEqual(["now", "30 s", "5 m", "2 h"]));
  it("counts", () => expect([0, 9_999, 12_345, 250_000, 3_400_000].map(count)).toEqual(["0", "9999", "12.3k", "250k", "3.4M"]));
  it("a cost that is not known is not zero", () => {
    expect([undefined, {costUSD: 0}, {costUSD: 0.5}].map(cost)).toEqual(["$0", "$0", "$0.50"]);
    expect([{unpriced: true}, {costUSD: 0, unpriced: true}, {costUSD: 0.5, unpriced: true}].map((usage) => cost(usage as {unpriced: true}))).toEqual(["unpriced", "unpriced", "$0.50+"]);
  });
  it("money", () => expect([0, 0.004, 0.5, 12.345, 12345].map(money)).toEqual(["$0", "<$0.01", "$0.50", "$12.35", "$12,345"]));
  it("truncates in the middle", () => {
    expect(middle("short", 10)).toBe("short");
    expect(middle("abcdefghijklmnop", 9)).toBe("abcd…mnop");
  });
  it("change their unit where they say so", () => {
    expect([999, 1000, 9_999, 10_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_399_999, 86_400_000, 216_000_000].map(duration)).toEqual(
      ["999 ms", "1.0 s", "10.0 s", "10 s", "59 s", "1 m 00 s", "59 m 59 s", "1 h 00 m", "23 h 59 m", "1 d 0 h", "2 d 12 h"]);
    expect([NaN, Infinity].map(duration)).toEqual(["", ""]);
    expect([4_999, 5_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_399_999, 86_400_000].map(ago)).toEqual(["now", "5 s", "59 s", "1 m", "59 m", "1 h", "23 h", "1 d"]);
    expect([10_000, 99_940, 100_000, 999_499, 1_000_000, 99_940_000, 100_000_000, 999_499_999, 1_000_000_000].map(count)).toEqual(
      ["10.0k", "99.9k", "100k", "999k", "1.0M", "99.9M", "100M", "999M", "1.0G"]);
    expect([0.0099, 0.01, 999.99, 1000].map(money)).toEqual(["<$0.01", "$0.01", "$999.99", "$1,000"]);
  });
  it("times of today and of other days", () => {
    const at = new Date(2026, 0, 2, 3, 4, 5, 6).getTime();
    expect(clockTime(at)).toBe("03:04:05");
    expect(clockTime(at, true)).toBe("03:04:05.006");
    expect(clockTime(new Date(2026, 0, 2, 13, 14, 15, 123).toISOString(), true)).toBe("13:14:15.123");
    expect(dayAndTime(at, new Date(2026, 0, 2, 23, 59).getTime())).toBe("03:04:05");
    expect(dayAndTime(at, new Date(2026, 0, 3).getTime())).toBe("2026-01-02 03:04:05");
    expect(dayAndTime(new Date(2025, 11, 31, 10).getTime(), at)).toBe("2025-12-31 10:00:00");
  });
  it("truncates only what is too long, with the larger half in front", () => {
    expect(middle("abcdefghi", 9)).toBe("abcdefghi");
    expect(middle("abcdefghij", 9)).toBe("abcd…ghij");
    expect(middle("abcdefghij", 8)).toBe("abcd…hij");
  });
});
