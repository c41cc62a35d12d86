/** Period is a choice of the time of the requests. */
export type Period = 'any' | 'hour' | 'day' | 'range';

const minute = 60_000;
const lengths = { hour: 60 * minute, day: 24 * 60 * minute };

/** since returns the start of a period that ends now, to the minute so that the address stays the same for a while. */
export function since(period: Period, now: Date): string | undefined {
  if (period === 'any' || period === 'range') return undefined;
  const at = new Date(now.getTime() - lengths[period]);
  at.setSeconds(0, 0);
  return at.toISOString();
}

/** periodOf returns the period that from begins, or range if it is none of them. */
export function periodOf(from: string | undefined, to: string | undefined, now: Date): Period {
  if (to !== undefined) return 'range';
  if (from === undefined) return 'any';
  const age = now.getTime() - Date.parse(from);
  if (age < lengths.hour * 2) return 'hour';
  return Math.abs(age - lengths.day) < 2 * lengths.hour ? 'day' : 'range';
}

/** startOf returns the start of a local day, or of the one that many days later. undefined if day is no day. */
export function startOf(day: string, later = 0): string | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day);
  if (match === null) return undefined;
  return new Date(Number(match[1]), Number(match[2]) - 1, Number(match[3]) + later).toISOString();
}

/** dayOf returns the local day in which at lies, as a date input has it; '' if at is no time. */
export function dayOf(at: string | undefined, before = 0): string {
  const date = new Date(Date.parse(at ?? '') - before);
  if (Number.isNaN(date.getTime())) return '';
  return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`;
}
