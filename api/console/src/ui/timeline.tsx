import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon';
import type { Tone } from './status';
import { Tooltip } from './tooltip';
import { date, exact } from './time';
import { cx } from './cx';
import styles from './timeline.module.css';

export interface TimelineEntry {
  key: string;
  at: string;
  icon: IconName;
  tone?: Tone;
  title: ReactNode;
  body?: ReactNode;
}

/** Timeline shows what happened, grouped by local day, in the order given (newest first). */
export function Timeline({ entries, now = new Date() }: { entries: readonly TimelineEntry[]; now?: Date }) {
  return (
    <div>
      {byDay(entries, now).map(([day, some]) => (
        <section key={day} className={styles.day}>
          <h3>{day}</h3>
          <ol>
            {some.map((entry) => (
              <li key={entry.key} className={styles.entry}>
                <span className={cx(styles.mark, entry.tone && styles[entry.tone])}>
                  <Icon name={entry.icon} size={14} />
                </span>
                <div className={styles.title}>{entry.title}</div>
                <Tooltip text={exact(new Date(entry.at))}>
                  <time className={styles.when} dateTime={entry.at}>
                    {clock(new Date(entry.at))}
                  </time>
                </Tooltip>
                {entry.body && <div className={styles.body}>{entry.body}</div>}
              </li>
            ))}
          </ol>
        </section>
      ))}
    </div>
  );
}

function byDay(entries: readonly TimelineEntry[], now: Date): [day: string, entries: TimelineEntry[]][] {
  const days: [string, TimelineEntry[]][] = [];
  for (const entry of entries) {
    const day = nameOf(new Date(entry.at), now);
    const last = days.at(-1);
    if (last?.[0] === day) last[1].push(entry);
    else days.push([day, [entry]]);
  }
  return days;
}

function nameOf(at: Date, now: Date): string {
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  if (date(at) === date(now)) return 'Today';
  return date(at) === date(yesterday) ? 'Yesterday' : date(at);
}

const clock = (at: Date) => new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at);
