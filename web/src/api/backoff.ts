// How long to wait before a request is sent again. Pure.
const kFirstMs = 500;
const kLongestMs = 5 * 60_000;

// Retry-After in milliseconds: a number of seconds, or a date. undefined if the answer has none that is meant for a machine.
export function retryAfter(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

// The pause after this number of failures in a row: twice as long each time, and never shorter than the server asks.
export function pauseAfter(failures: number, asked = 0, first = kFirstMs): number {
  const grown = failures > 0 ? first * 2 ** Math.min(failures - 1, 20) : 0;
  return Math.max(Math.min(grown, Math.max(kLongestMs, first)), asked);
}
