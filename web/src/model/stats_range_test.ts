import {expect, test} from "vitest";
import {kRanges, kUsual, kWidest, rangeHolding, rangeOf, rangeReaching} from "./stats_range";

const now = Date.parse("2026-03-01T12:00:00Z");
const ago = (minutes: number) => now - minutes * 60_000;
const kHour = 60;
const kDay = 24 * kHour;

test.each([
  {what: "a newcomer's few minutes", moments: [ago(8), ago(3)], range: "-15m"},
  {what: "just within", moments: [ago(15)], range: "-15m"},
  {what: "just beyond", moments: [ago(16), ago(1)], range: "-1h"},
  {what: "a morning", moments: [ago(3 * kHour), ago(1)], range: "-24h"},
  {what: "more than the day", moments: [ago(5 * kDay), ago(1)], range: "-24h"},
])("all that there is, in the smallest range: $what", ({moments, range}) => expect(rangeHolding(moments, now).from).toBe(range));

test.each([
  {what: "before the weekend", moments: [ago(20 * kDay), ago(3 * kDay)], range: "-7d"},
  {what: "weeks ago", moments: [ago(20 * kDay)], range: "-30d"},
  {what: "in a day that began before the month", moments: [ago(30.5 * kDay)], range: "-30d"},
  {what: "never", moments: [], range: undefined},
])("nothing lately: $what", ({moments, range}) => expect(rangeReaching(moments, now)?.from).toBe(range));

test("a range that nobody offers is the usual one", () => expect(rangeOf("-3y", 0)).toBe(kUsual));

test("each range ends where it says", () => {
  for (const [index, milliseconds] of [15 * 60_000, kHour * 60_000, kDay * 60_000, 7 * kDay * 60_000, 30 * kDay * 60_000].entries()) {
    const range = kRanges[index]!;
    expect(rangeOf(range.from, 0)).toBe(range);
    expect(rangeReaching([now - milliseconds], now)).toBe(range);
    expect(rangeReaching([now - milliseconds - 1], now)).toBe(kRanges[index + 1] ?? kWidest);
  }
  expect(kRanges.map((range) => range.from)).toEqual(["-15m", "-1h", "-24h", "-7d", "-30d"]);
  expect(kRanges.map((range) => range.seconds)).toEqual([900, 3600, 86_400, 604_800, 2_592_000]);
  expect(kWidest.from).toBe("-30d");
  expect(rangeHolding([now - 7 * kDay * 60_000], now)).toBe(kUsual);
});

test("today reaches from midnight until now", () => {
  const now = new Date(2026, 2, 1, 15, 30).getTime();
  expect(rangeOf("today", now)).toMatchObject({from: "today", seconds: 15.5 * 3600});
  expect(rangeOf("today", new Date(2026, 2, 1).getTime()).seconds).toBe(60);
});
