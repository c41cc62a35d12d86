// Dates, numbers and money as people read them. 12 Mar 2026 is an order of day and month that nobody mistakes.

const numbers = 'en-US';
const dates = 'en-GB';

const day = new Intl.DateTimeFormat(dates, { day: 'numeric', month: 'short', year: 'numeric' });
const exact = new Intl.DateTimeFormat(dates, { dateStyle: 'medium', timeStyle: 'long' });
const clock = new Intl.DateTimeFormat(dates, { hour: '2-digit', minute: '2-digit' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const whole = new Intl.NumberFormat(numbers);

const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];

/** formatTime returns "3 minutes ago" up to a week before or after now, else the day. */
export function formatTime(at: string | Date, now = new Date()): string {
  const then = new Date(at);
  const seconds = (then.getTime() - now.getTime()) / 1000;
  if (Math.abs(seconds) >= 7 * 86_400) return day.format(then);
  for (const [unit, size] of units) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return seconds > 0 ? 'in less than a minute' : 'just now';
}

/** formatExactTime returns the time with seconds and zone, for hovering and copying. */
export function formatExactTime(at: string | Date): string {
  return exact.format(new Date(at));
}

export function formatDay(at: string | Date): string {
  return day.format(new Date(at));
}

export function formatClock(at: string | Date): string {
  return clock.format(new Date(at));
}

export function formatNumber(n: number, options?: Intl.NumberFormatOptions): string {
  return options === undefined ? whole.format(n) : new Intl.NumberFormat(numbers, options).format(n);
}

/** formatPercent returns a share of 1 as a percentage. */
export function formatPercent(share: number, digits = 0): string {
  return formatNumber(share, { style: 'percent', minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** formatMoney returns an amount in minor units: formatMoney(92000, "USD") is $920.00, and 500 JPY is ¥500. */
export function formatMoney(amount: number, currency: string): string {
  const format = new Intl.NumberFormat(numbers, { style: 'currency', currency });
  return format.format(amount / 10 ** (format.resolvedOptions().maximumFractionDigits ?? 2));
}

/** toMinorUnits is the inverse of formatMoney for what a person typed: "1,250.5" in USD is 125050. null: no amount. */
export function toMinorUnits(text: string, currency: string): number | null {
  const digits = new Intl.NumberFormat(numbers, { style: 'currency', currency }).resolvedOptions()
    .maximumFractionDigits;
  const plain = text.trim().replace(/,(?=\d{3}(\D|$))/g, '');
  const match = /^(-?)(\d+)(?:\.(\d*))?$/.exec(plain);
  if (match === null) return null;
  const [, sign = '', units = '', fraction = ''] = match;
  if (fraction.length > (digits ?? 2)) return null;
  const minor = Number(units + fraction.padEnd(digits ?? 2, '0'));
  return Number.isSafeInteger(minor) ? (sign === '-' ? -minor : minor) : null;
}
