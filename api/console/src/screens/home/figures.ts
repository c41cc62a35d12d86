import type { Result } from '@/lib/operations';

export type Overview = Result<'get', '/api/v1/overview'>;

const dayLength = 86_400_000;

/** span returns the last days up to today, or as many days that end before them. The API's days are in UTC. */
export function span(days: number, now: Date, before = false): { from: string; to: string } {
  const day = (ago: number) => new Date(now.getTime() - ago * dayLength).toISOString().slice(0, 10);
  const shift = before ? days : 0;
  return { from: day(days - 1 + shift), to: day(shift) };
}

/** change returns how a number differs from an earlier one, such as "+12 %"; null where a share means nothing. */
export function change(now: number, before: number): string | null {
  if (before === 0 || now === before) return null;
  const percent = Math.round(((now - before) / before) * 100);
  if (percent === 0) return null;
  return `${percent > 0 ? '+' : '−'}${Math.abs(percent)} %`;
}

/** total returns the number of deals in all currencies. */
export function total(sums: readonly { count: number }[]): number {
  return sums.reduce((all, sum) => all + sum.count, 0);
}
