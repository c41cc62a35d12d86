import { useMemo } from 'react';
import { formatPercent } from '@/lib/intl';
import { useRead } from '@/lib/read';
import { Skeleton } from '@/ui/feedback';
import { cx } from '@/ui/cx';
import { since, statuses, type Delivery } from './filter';
import { t } from './messages';
import { statusWords } from './words';
import styles from './webhooks.module.css';

/** Strip shows deliveries as bars, the newest at the end, and says their numbers to screen readers. */
export function Strip({ deliveries }: { deliveries: readonly Pick<Delivery, 'id' | 'status'>[] }) {
  const counts = statuses
    .map((status) => [statusWords[status].word, deliveries.filter((one) => one.status === status).length] as const)
    .filter(([, count]) => count > 0)
    .map(([word, count]) => `${count} ${word.toLowerCase()}`);
  const label = `${t('last', { count: deliveries.length })}: ${counts.join(', ')}`;
  return (
    <span className={styles.strip} role="img" aria-label={label} title={label}>
      {[...deliveries].reverse().map((one) => (
        <span key={one.id} className={cx(styles.bar, styles[statusWords[one.status].tone])} />
      ))}
    </span>
  );
}

/** useHealth reads the latest deliveries of a webhook in the last seven days, and how many there were. */
export function useHealth(id: string, limit = 24) {
  const created_after = useMemo(() => since('week'), []);
  const query = { webhook_id: id, created_after, count: 'exact' as const };
  const all = useRead('/api/v1/webhook-deliveries', { query: { ...query, limit } });
  const good = useRead('/api/v1/webhook-deliveries', { query: { ...query, status: 'delivered', limit: 1 } });
  const [total, delivered] = [all.data?.total, good.data?.total];
  return { latest: all.data?.data, total, delivered: total === undefined ? undefined : delivered };
}

/** Health is the strip of a webhook's latest deliveries with the share that was delivered in seven days. */
export function Health({ id }: { id: string }) {
  const { latest, total, delivered } = useHealth(id);
  if (latest === undefined || total === undefined || delivered === undefined) return <Skeleton width={120} />;
  if (total === 0) return <span className="meta">{t('noDeliveries')}</span>;
  return (
    <span className={styles.health}>
      <Strip deliveries={latest} />
      <span className="num">{formatPercent(delivered / total, share(delivered, total))}</span>
    </span>
  );
}

/** share returns the digits that a percentage needs so that a single failure among many shows. */
function share(part: number, whole: number): number {
  return part < whole && part / whole > 0.99 ? 2 : 0;
}
