/** Period is a choice of the time of the entries. */
export type Period = 'any' | 'day' | 'week' | 'month' | 'range';

const hour = 3_600_000;
const lengths = { day: 24 * hour, week: 7 * 24 * hour, month: 30 * 24 * hour };

/** since returns the start of a period that ends now, to the minute so that the address stays the same for a while. */
export function since(period: Period, now: Date): string | undefined {
  if (period === 'any' || period === 'range') return undefined;
  const at = new Date(now.getTime() - lengths[period]);
  at.setSeconds(0, 0);
  return at.toISOString();
}

/** periodOf returns the period that after begins, or range if it is none of them. */
export function periodOf(after: string | undefined, now: Date): Period {
  if (after === undefined) return 'any';
  const age = now.getTime() - Date.parse(after);
  for (const [period, length] of Object.entries(lengths) as [keyof typeof lengths, number][]) {
    if (Math.abs(age - length) < hour) return period;
  }
  return 'range';
}

/** startOf returns the start of a local day, or of the one that many days later. undefined if day is no day. */
export function startOf(day: string, later = 0): string | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  if (match === null) return undefined;
  return new Date(Number(match[1]), Number(match[2]) - 1, Number(match[3]) + later).toISOString();
}
