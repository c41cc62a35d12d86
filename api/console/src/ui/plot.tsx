import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import type { Point } from './sparkline';
import { date } from './time';
import styles from './chart.module.css';

interface PlotProps {
  points: readonly Point[];
  height: number;
  format: (value: number) => string;
}

/** Plot draws the line on a canvas, 1.5 px, without a grid but for the zero line. Only Chart loads it. */
export default function Plot({ points, height, format }: PlotProps) {
  const root = useRef<HTMLDivElement>(null);
  const [hovered, setHovered] = useState<{ index: number; left: number } | null>(null);
  useEffect(() => {
    const host = root.current;
    if (!host) return;
    const colour = (name: string) => resolved(host, name);
    const chart = new uPlot(
      {
        width: host.clientWidth,
        height,
        padding: [4, 0, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { size: 7, fill: () => colour('--accent'), stroke: () => colour('--page') } },
        scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(1, max)] } },
        axes: [
          { show: true, size: 1, ticks: { show: false }, grid: { show: false }, values: () => [], border: { show: true, width: 1, stroke: () => colour('--n6') } },
          { show: false },
        ],
        series: [{}, { stroke: () => colour('--ink-2'), width: 1.5, points: { show: false } }],
        hooks: {
          setCursor: [
            (u) => setHovered(u.cursor.idx == null || (u.cursor.left ?? -1) < 0 ? null : { index: u.cursor.idx, left: u.cursor.left ?? 0 }),
          ],
        },
      },
      [points.map((_, i) => i), points.map((point) => point.value)],
      host,
    );
    const sizes = new ResizeObserver(() => chart.setSize({ width: host.clientWidth, height }));
    sizes.observe(host);
    const themes = new MutationObserver(() => chart.redraw());
    themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      sizes.disconnect();
      themes.disconnect();
      chart.destroy();
    };
  }, [points, height]);
  const point = hovered && points[hovered.index];
  const width = root.current?.clientWidth ?? 0;
  return (
    <div className={styles.plot} ref={root} style={{ height }}>
      {hovered && point && (
        <div
          className={styles.tip}
          style={hovered.left > width / 2 ? { right: width - hovered.left + 8 } : { left: hovered.left + 8 }}
        >
          {date(new Date(`${point.day}T12:00:00`))}: {format(point.value)}
        </div>
      )}
    </div>
  );
}

// A canvas does not know light-dark(), so a variable's colour is read from an element that has it.
function resolved(host: HTMLElement, name: string): string {
  host.style.color = `var(${name})`;
  const colour = getComputedStyle(host).color;
  host.style.color = '';
  return colour;
}
