import { formatNumber, formatPercent } from '@/lib/intl';
import { messages } from '@/lib/messages';
import { Tooltip } from '@/ui/tooltip';
import styles from './ratebar.module.css';

const t = messages({ none: '–', range: '{low} to {high}, with 95 % confidence' });

/** RateBar is a count, its share and, as a thin bar, where the true share lies with 95 % confidence. */
export function RateBar({ rate, count }: { rate: { value: number; low: number; high: number }; count: number }) {
  const { value, low, high } = rate;
  if (high - low > 0.99) return <span className="meta">{t('none')}</span>;
  const most = Math.max(0.1, high); // the end of the bar
  const place = (share: number) => `${Math.min(100, (share / most) * 100)}%`;
  const range = t('range', { low: formatPercent(low, 1), high: formatPercent(high, 1) });
  return (
    <Tooltip text={range}>
      <span className={styles.rate}>
        <span className={styles.figures}>
          <span>{formatNumber(count)}</span>
          <span className={styles.share}>{formatPercent(value, 1)}</span>
          <span className="visually-hidden">{range}</span>
        </span>
        <span className={styles.track} aria-hidden="true">
          <span className={styles.range} style={{ insetInlineStart: place(low), width: place(high - low) }} />
          <span className={styles.point} style={{ insetInlineStart: place(value) }} />
        </span>
      </span>
    </Tooltip>
  );
}
