/** Reason is one part of a score, as the API explains it. */
export interface Reason {
  feature: string;
  value: string;
  points: number;
}

/** Fall is the bar of a reason: from the sum before it to the sum after it. */
export interface Fall extends Reason {
  from: number;
  to: number;
}

/** Points have two decimals, so sums are made of hundredths: they are exact. */
const hundredths = (points: number) => Math.round(points * 100);

/** fallsOf returns the bars of reasons, the base first, and their sum, which is the score. */
export function fallsOf(reasons: readonly Reason[]): { falls: Fall[]; sum: number; low: number; high: number } {
  let at = 0;
  let low = 0;
  let high = 0;
  const falls = reasons.map((reason) => {
    const from = at;
    at += hundredths(reason.points);
    low = Math.min(low, at);
    high = Math.max(high, at);
    return { ...reason, from: from / 100, to: at / 100 };
  });
  return { falls, sum: at / 100, low: low / 100, high: high / 100 };
}

/** signed returns points with their sign: "+4.50", "−3.00". */
export function signed(points: number): string {
  const size = Math.abs(points).toFixed(2);
  if (size === '0.00') return size;
  return points < 0 ? `−${size}` : `+${size}`;
}
