// The time ranges of the figures, and the choice of the one that shows the most.
import {midnightOf} from "./format";

export interface Range {
  from: string;  // as in the address
  words: string;
  seconds: number;
}

const kDay = 86_400;
export const kRanges: readonly Range[] = [
  {from: "-15m", words: "last 15 minutes", seconds: 900}, {from: "-1h", words: "last hour", seconds: 3600},
  {from: "-24h", words: "last 24 hours", seconds: kDay}, {from: "-7d", words: "last 7 days", seconds: 7 * kDay},
  {from: "-30d", words: "last 30 days", seconds: 30 * kDay},
];
export const kUsual = kRanges[2]!;
export const kWidest = kRanges[kRanges.length - 1]!;
export const kToday = "today";
export function rangeOf(from: string, now: number): Range {
  if (from === kToday) return {from, words: "day so far", seconds: Math.max(60, Math.ceil((now - midnightOf(now)) / 1000))};
  return kRanges.find((range) => range.from === from) ?? kUsual;
}

// The smallest range that holds all of these moments, each the beginning of a step with events. The default is a day;
// with older moments it is the last day.
export function rangeHolding(moments: readonly number[], now: number): Range {
  const first = Math.min(...moments);
  return kRanges.find((range) => first >= now - range.seconds * 1000 || range === kUsual)!;
}

// For an empty default range: the smallest range that holds anything.
export function rangeReaching(moments: readonly number[], now: number): Range | undefined {
  const last = Math.max(...moments);
  return moments.length === 0 ? undefined : kRanges.find((range) => last >= now - range.seconds * 1000) ?? kWidest;
}
