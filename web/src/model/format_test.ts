import {describe, expect, it} from "vitest";
import {ago, count, duration, middle, money} from "./format";

describe("format", () => {
  it("durations", () => {
    expect([0, 950, 1500, 42_000, 61_000, 3_720_000, 90_000_000].map(duration)).toEqual(
      ["0 ms", "950 ms", "1.5 s", "42 s", "1 m 01 s", "1 h 02 m", "1 d 1 h"]);
    expect(duration(-1)).toBe("");
  });
  it("ages", () => expect([0, 30_000, 300_000, 7_200_000].map(ago)).toEqual(["now", "30 s", "5 m", "2 h"]));
  it("counts", () => expect([0, 9_999, 12_345, 250_000, 3_400_000].map(count)).toEqual(["0", "9999", "12.3k", "250k", "3.4M"]));
  it("money", () => expect([0, 0.004, 0.5, 12.345, 12345].map(money)).toEqual(["$0", "<$0.01", "$0.50", "$12.35", "$12,345"]));
  it("truncates in the middle", () => {
    expect(middle("short", 10)).toBe("short");
    expect(middle("abcdefghijklmnop", 9)).toBe("abcd…mnop");
  });
});
