import { useSyncExternalStore } from 'react';
import { Tooltip } from './tooltip';
import styles from './text.module.css';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** relative returns "just now", "5 min ago", "in 2 h", "3 days ago", or the date if it is more than a week away. */
export function relative(at: Date, now: Date, locale = 'en'): string {
  const away = at.getTime() - now.getTime();
  const size = Math.abs(away);
  if (size < minute / 2) return 'just now';
  const say = (n: number, unit: string) => (away < 0 ? `${n} ${unit} ago` : `in ${n} ${unit}`);
  if (size < hour) return say(Math.max(1, Math.round(size / minute)), 'min');
  if (size < day) return say(Math.round(size / hour), 'h');
  const days = Math.round(size / day);
  if (days <= 7) return say(days, days === 1 ? 'day' : 'days');
  return date(at, locale);
}

/** date returns "12 Mar 2026". */
export function date(at: Date, locale = 'en'): string {
  const part = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, options).format(at);
  return `${at.getDate()} ${part({ month: 'short' })} ${at.getFullYear()}`;
}

/** exact returns "12 Mar 2026, 14:03:22 GMT+1". */
export function exact(at: Date, locale = 'en'): string {
  const clock = new Intl.DateTimeFormat(locale, {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  });
  return `${date(at, locale)}, ${clock.format(at)}`;
}

/** Time is relative up to a week, then a date. The exact time with its zone is in the tooltip. */
export function Time({ at }: { at: string }) {
  const now = useSyncExternalStore(everyHalfMinute, () => Math.floor(Date.now() / 30_000) * 30_000);
  const when = new Date(at);
  // The clock is that of the last half minute; what is newer is not in the future.
  const seen = new Date(Math.max(now, Math.min(when.getTime(), now + 30_000)));
  return (
    <Tooltip text={exact(when)}>
      <time className={styles.time} dateTime={at}>
        {relative(when, seen)}
      </time>
    </Tooltip>
  );
}

function everyHalfMinute(changed: () => void): () => void {
  const timer = setInterval(changed, 30_000);
  return () => clearInterval(timer);
}
