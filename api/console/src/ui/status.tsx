import type { ReactNode } from 'react';
import { cx } from './cx';
import styles from './status.module.css';

/** Tone is what a colour means: good, waiting or warning, failed or dangerous, running, off. */
export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'off';

/** Status is a dot and a word, for tables and heads. */
export function Status({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <span className={styles.status}>
      <span className={cx(styles.dot, styles[tone])} aria-hidden="true" />
      {children}
    </span>
  );
}

/** Badge is a word on a soft ground, for properties such as a stage, a plan or "Test". */
export function Badge({ tone = 'off', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={cx(styles.badge, styles[tone])}>{children}</span>;
}

/** Count is a number beside a navigation entry, where someone must act. It is absent at 0. */
export function Count({ value, label }: { value: number; label: string }) {
  if (value === 0) return null;
  return (
    <span className={cx(styles.badge, styles.num)}>
      {value > 99 ? '99+' : value}
      <span className="visually-hidden"> {label}</span>
    </span>
  );
}
