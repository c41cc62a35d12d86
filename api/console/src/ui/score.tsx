import { cx } from './cx';
import styles from './score.module.css';

const radius = 12.5;
const around = 2 * Math.PI * radius;

/** ScoreRing is a lead score of 0 to 100: the number in a ring whose arc is the probability. */
export function ScoreRing({ score }: { score: number }) {
  const shown = Math.round(score);
  const band = score >= 70 ? styles.high : score >= 40 ? styles.middle : undefined;
  return (
    <span className={styles.ring} role="img" aria-label={`Lead score ${shown} of 100`}>
      <svg viewBox="0 0 28 28" fill="none" strokeWidth="2.5" aria-hidden="true">
        <circle className={styles.track} cx="14" cy="14" r={radius} />
        {shown > 0 && (
          <circle
            className={cx(styles.arc, band)}
            cx="14"
            cy="14"
            r={radius}
            strokeLinecap="round"
            strokeDasharray={`${(Math.min(100, score) / 100) * around} ${around}`}
          />
        )}
      </svg>
      <span aria-hidden="true">{shown}</span>
    </span>
  );
}
