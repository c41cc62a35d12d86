import { Link } from '@tanstack/react-router';
import { Failure } from '@/app/failure';
import { formatNumber, formatPercent } from '@/lib/intl';
import { useRead } from '@/lib/read';
import { Callout, Skeleton } from '@/ui/feedback';
import { Card } from '@/ui/page';
import styles from '../mail/mail.module.css';
import { t } from './messages';
import type { Stats } from './words';
import own from './broadcasts.module.css';

const shown = ['sent', 'opened', 'clicked', 'replied', 'bounced', 'complained', 'failed', 'unknown'] as const;

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
              {t('unknownHelp')} <Link to="/app/settings/unknown">{t('unknown')}</Link>
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
      {row.variant !== null && <p className={styles.label}>{`${t('variant')} ${row.variant.toUpperCase()}`}</p>}
      <dl className={own.results}>
        {shown.map((name) => (
          <div key={name}>
            <dt>{t(name)}</dt>
            <dd>
              {formatNumber(row[name])}
              {name !== 'sent' && row[name] > 0 && <small>{share(row[name])}</small>}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
