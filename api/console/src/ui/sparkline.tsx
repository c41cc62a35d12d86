import styles from './chart.module.css';

export interface Point {
  /** A day, "2026-03-12". */
  day: string;
  value: number;
}

/** Sparkline is a line without axes, for a table cell or beside a number. It is decoration: say the number, too. */
export function Sparkline({ points, height = 24 }: { points: readonly Point[]; height?: number }) {
  const most = Math.max(1, ...points.map((point) => point.value));
  const step = 100 / Math.max(1, points.length - 1);
  const path = points
    .map((point, i) => `${i === 0 ? 'M' : 'L'}${(i * step).toFixed(2)} ${(38 - (point.value / most) * 36).toFixed(2)}`)
    .join('');
  return (
    <svg className={styles.sparkline} height={height} viewBox="0 0 100 40" preserveAspectRatio="none" aria-hidden="true">
      <path d={path} fill="none" stroke="var(--ink-2)" strokeWidth="1.5" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
