import { Link } from '@tanstack/react-router';
import { Failure } from '@/app/failure';
import { formatNumber, formatPercent } from '@/lib/intl';
import { useRead } from '@/lib/read';
import { Callout, Skeleton } from '@/ui/feedback';
import { Card } from '@/ui/page';
import { Badge } from '@/ui/status';
import styles from '../mail/mail.module.css';
import { RateBar } from '../mail/ratebar';
import { t } from './messages';
import type { Stats } from './words';
import own from './broadcasts.module.css';

const counts = ['sent', 'opened', 'complained', 'failed', 'unknown'] as const;
const rates = [
  { name: 'clicked', rate: 'click_rate' },
  { name: 'replied', rate: 'reply_rate' },
  { name: 'bounced', rate: 'bounce_rate' },
] as const;
const isSure = 0.95; // the probability from which on a difference between variants is shown

/** Results shows what became of the emails of a broadcast, by variant. */
export function Results({ id }: { id: string }) {
  const read = useRead('/api/v1/broadcasts/{id}/stats', { path: { id } });
  if (read.error !== null && read.data === undefined) return <Failure error={read.error} again={read.again} />;
  const rows = read.data?.data ?? [];
  const unknown = rows.reduce((sum, one) => sum + one.unknown, 0);
  return (
    <Card title={t('results')}>
      {read.data === undefined ? (
        <Skeleton width="80%" />
      ) : (
        <div className={styles.stack}>
          {rows.map((one) => (
            <Variant key={one.variant ?? ''} row={one} />
          ))}
          {unknown > 0 && (
            <Callout tone="warn">
              {t('unknownHelp')} <Link to="/app/settings/unknown">{t('unknownLink')}</Link>
            </Callout>
          )}
          <p className="meta">{t('machineHelp')}</p>
        </div>
      )}
    </Card>
  );
}

function Variant({ row }: { row: Stats }) {
  const share = (count: number) => (row.sent === 0 ? '' : formatPercent(count / row.sent, 1));
  return (
    <section className={own.variant} aria-label={row.variant ?? t('allOfIt')}>
      {row.variant !== null && (
        <p className={styles.label}>
          {`${t('variant')} ${row.variant.toUpperCase()}`}{' '}
          {row.p_best !== null && row.p_best >= isSure && (
            <Badge tone="good">{t('best', { share: formatPercent(row.p_best) })}</Badge>
          )}
        </p>
      )}
      <dl className={own.results}>
        {counts.map((name) => (
          <div key={name}>
            <dt>{t(name)}</dt>
            <dd>
              {formatNumber(row[name])}
              {name !== 'sent' && row[name] > 0 && <small>{share(row[name])}</small>}
            </dd>
          </div>
        ))}
        {rates.map(({ name, rate }) => (
          <div key={name}>
            <dt>{t(name)}</dt>
            <dd className={own.rate}>
              <RateBar rate={row[rate]} count={row[name]} />
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
