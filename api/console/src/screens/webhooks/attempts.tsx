import { messages } from '@/lib/messages';
import { cx } from '@/ui/cx';
import { Icon, type IconName } from '@/ui/icon';
import { Time } from '@/ui/time';
import type { Attempt, Delivery } from './filter';
import { formatDuration, outcome, toneOf, triggerWord } from './words';
import styles from './delivery.module.css';

const t = messages({
  next: 'Next attempt',
  waiting: 'First attempt',
  none: 'No further attempt is planned',
  attempt: 'Attempt {number}',
  exhausted: 'All attempts are used up. Redeliver sends the event again.',
  discarded: 'The webhook was disabled or archived.',
});

/** Attempts is the line of a delivery's attempts, the newest first, with what comes next above them. */
export function Attempts({ delivery, chosen, onChoose }: {
  delivery: Delivery;
  chosen: string | undefined;
  onChoose: (id: string) => void;
}) {
  return (
    <ol className={styles.line}>
      <Next delivery={delivery} />
      {[...delivery.attempts].reverse().map((attempt) => (
        <li key={attempt.id} className={styles.step}>
          <span className={cx(styles.mark, styles[toneOf(attempt.status_code, attempt.error_class)])}>
            <Icon name={iconOf(attempt)} size={12} />
          </span>
          <button
            type="button"
            className={styles.attempt}
            aria-pressed={attempt.id === chosen}
            onClick={() => onChoose(attempt.id)}
          >
            <span className={styles.result}>
              {outcome(attempt.status_code, attempt.error_class)}
              <span className="meta num">{formatDuration(attempt.timings.total_ms)}</span>
            </span>
            <span className={styles.when}>
              {t('attempt', { number: attempt.number })}
              {attempt.trigger !== 'event' && ` · ${triggerWord(attempt.trigger)}`}
              {' · '}
              <Time at={attempt.started_at} />
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}

const iconOf = (attempt: Attempt): IconName => (attempt.error_class === null ? 'check' : 'close');

function Next({ delivery }: { delivery: Delivery }) {
  if (delivery.status === 'delivered') return null;
  const text = {
    pending: delivery.attempts.length === 0 ? t('waiting') : t('next'),
    failed: t('next'),
    exhausted: t('exhausted'),
    discarded: t('discarded'),
  }[delivery.status];
  return (
    <li className={styles.step}>
      <span className={cx(styles.mark, styles.planned)}>
        <Icon name={delivery.next_attempt_at === null ? 'minus' : 'clock'} size={12} />
      </span>
      <span className={styles.next}>
        {text}
        {delivery.next_attempt_at !== null && (
          <>
            {' '}
            <Time at={delivery.next_attempt_at} />
          </>
        )}
      </span>
    </li>
  );
}
