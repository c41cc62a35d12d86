import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon';
import type { Tone } from './status';
import { cx } from './cx';
import styles from './feedback.module.css';

/** EmptyState says in one line what a list is for, with one button and one link to the guide. */
export function EmptyState({ icon, title, children, action, guide }: {
  icon?: IconName;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  guide?: { label: string; href: string };
}) {
  return (
    <div className={styles.empty}>
      {icon && (
        <span className={styles.symbol}>
          <Icon name={icon} size={18} />
        </span>
      )}
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {(action ?? guide) && (
        <div className={styles.emptyActions}>
          {action}
          {guide && <a href={guide.href}>{guide.label}</a>}
        </div>
      )}
    </div>
  );
}

/** Skeleton takes the shape of a line of text that is being loaded. It appears after 150 ms. */
export function Skeleton({ width = '100%' }: { width?: string | number }) {
  return (
    <span className={styles.delayed} aria-hidden="true">
      <span className={styles.skeleton} style={{ width }} />
    </span>
  );
}

const symbols: Record<Tone, IconName> = { good: 'check', warn: 'warning', bad: 'error', busy: 'clock', off: 'info' };

/** Callout is a message that belongs to the page: a warning, a limit that is near, a state to act on. */
export function Callout({ tone = 'off', title, children, action }: {
  tone?: Tone;
  title?: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div className={cx(styles.callout, styles[tone])} role={tone === 'bad' ? 'alert' : undefined}>
      <Icon name={symbols[tone]} />
      <div>
        {title && <strong>{title}</strong>}
        {children}
      </div>
      {action}
    </div>
  );
}

/** Progress is the state of long work or the use of a limit. Without max, the end is unknown. */
export function Progress({ label, value, max, detail, tone }: {
  label: string;
  value: number;
  max?: number;
  /** The state in words; the figures if absent. */
  detail?: string;
  tone?: Tone;
}) {
  const share = max === undefined ? undefined : max === 0 ? 1 : Math.min(1, value / max);
  const figures = max === undefined ? value.toLocaleString('en') : `${value.toLocaleString('en')} of ${max.toLocaleString('en')}`;
  return (
    <div className={styles.progress}>
      <div className={styles.progressHead}>
        <span>{label}</span>
        <span>{detail ?? figures}</span>
      </div>
      <div
        className={styles.track}
        role="progressbar"
        aria-label={label}
        aria-valuetext={detail ?? figures}
        {...(share !== undefined && { 'aria-valuenow': Math.round(share * 100), 'aria-valuemin': 0, 'aria-valuemax': 100 })}
      >
        <div
          className={cx(styles.bar, tone && styles[tone], share === undefined && styles.unknown)}
          style={share === undefined ? undefined : { width: `${share * 100}%` }}
        />
      </div>
    </div>
  );
}
