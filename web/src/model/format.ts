// Formats numbers, times and names for people. Pure; the time is passed in.
const kMinute = 60_000;
const kHour = 60 * kMinute;
const kDay = 24 * kHour;

export function duration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < kMinute) return `${Math.floor(ms / 1000)} s`;
  if (ms < kHour) return `${Math.floor(ms / kMinute)} m ${String(Math.floor((ms % kMinute) / 1000)).padStart(2, "0")} s`;
  if (ms < kDay) return `${Math.floor(ms / kHour)} h ${String(Math.floor((ms % kHour) / kMinute)).padStart(2, "0")} m`;
  return `${Math.floor(ms / kDay)} d ${Math.floor((ms % kDay) / kHour)} h`;
}

// Elapsed time in one unit.
export function ago(ms: number): string {
  if (ms < 5_000) return "now";
  if (ms < kMinute) return `${Math.floor(ms / 1000)} s`;
  if (ms < kHour) return `${Math.floor(ms / kMinute)} m`;
  if (ms < kDay) return `${Math.floor(ms / kHour)} h`;
  return `${Math.floor(ms / kDay)} d`;
}

export function count(value: number): string {
  if (value < 10_000) return String(Math.round(value));
  if (value < 1_000_000) return `${(value / 1000).toFixed(value < 100_000 ? 1 : 0)}k`;
  if (value < 1_000_000_000) return `${(value / 1_000_000).toFixed(value < 100_000_000 ? 1 : 0)}M`;
  return `${(value / 1_000_000_000).toFixed(1)}G`;
}

export function money(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0.01) return "<$0.01";
  return usd < 1000 ? `$${usd.toFixed(2)}` : `$${Math.round(usd).toLocaleString("en-US")}`;
}

export const kUnpriced = "The cost of some of its use is not known: the agent does not tell it, and the configuration has no price";

// "unpriced": no cost is known of what was used; "$0.25+": more was used, whose cost is not known.
export function cost(usage: {costUSD?: number; unpriced?: true} | undefined): string {
  const usd = usage?.costUSD ?? 0;
  if (usage?.unpriced) return usd > 0 ? `${money(usd)}+` : "unpriced";
  return money(usd);
}

export function clockTime(at: string | number, withMs = false): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  const text = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return withMs ? `${text}.${String(date.getMilliseconds()).padStart(3, "0")}` : text;
}

export function dayAndTime(at: string | number, now: number): string {
  const date = new Date(at);
  if (date.toDateString() === new Date(now).toDateString()) return clockTime(at);
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")} ${clockTime(at)}`;
}

// When the day of this time began, here.
export const midnightOf = (now: number): number => new Date(now).setHours(0, 0, 0, 0);

// Keeps the beginning and the end of a long name. Both distinguish names; the middle seldom does.
export function middle(text: string, most: number): string {
  if (text.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return text.slice(0, head) + "…" + text.slice(text.length - (most - 1 - head));
}
