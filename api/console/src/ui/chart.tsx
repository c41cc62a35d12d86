import { lazy, Suspense, type ReactNode } from 'react';
import { Sparkline, type Point } from './sparkline';
import { date } from './time';
import styles from './chart.module.css';

export type { Point } from './sparkline';

const Plot = lazy(() => import('./plot'));

export interface ChartProps {
  /** What the line shows: "New contacts per day". */
  label: string;
  points: readonly Point[];
  height?: number;
  format?: (value: number) => string;
}

/**
 * Chart is one line over days; hovering shows the day. The plot is loaded when a chart is first shown, and a plain line
 * stands in its place until then. Screen readers get a table.
 */
export function Chart({ label, points, height = 72, format = (value) => value.toLocaleString('en') }: ChartProps) {
  return (
    <figure className={styles.chart} aria-label={label}>
      <div aria-hidden="true">
        <Suspense fallback={<Sparkline points={points} height={height} />}>
          <Plot points={points} height={height} format={format} />
        </Suspense>
      </div>
      <table className="visually-hidden">
        <caption>{label}</caption>
        <tbody>
          {points.map((point) => (
            <tr key={point.day}>
              <th scope="row">{date(new Date(`${point.day}T12:00:00`))}</th>
              <td>{format(point.value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

/** Figure is a number that is the point of a page: its name, the number, how it changed, and a chart below. */
export function Figure({ name, value, change, children }: {
  name: string;
  value: ReactNode;
  change?: ReactNode;
  children?: ReactNode;
}) {
  return (
    <div className={styles.figure}>
      <div className={styles.name}>{name}</div>
      <div className={styles.value}>
        {value}
        {change !== undefined && <span className={styles.change}>{change}</span>}
      </div>
      {children}
    </div>
  );
}
