import { Failure } from '@/app/failure';
import { useList, useRead } from '@/lib/read';
import { EmptyState, Skeleton } from '@/ui/feedback';
import { Money } from '@/ui/money';
import { Status, type Tone } from '@/ui/status';
import { Time } from '@/ui/time';
import { GoLink } from './golink';
import { t } from './messages';
import type { Owner } from './notes';
import { rowsOf, Rest } from './rest';
import type { Deal } from './types';
import styles from './record.module.css';

const tones: Record<Deal['status'], Tone> = { open: 'busy', won: 'good', lost: 'bad' };

/** Deals of a record, newest first. */
export function Deals({ owner }: { owner: Owner }) {
  const deals = useList('/api/v1/crm/deals', { query: { ...owner, sort: '-created_at' } });
  const pipelines = useRead('/api/v1/crm/pipelines', { query: { limit: 200 } });
  const stages = new Map((pipelines.data?.data ?? []).flatMap((p) => p.stages.map((stage) => [stage.id, stage.name])));
  const rows = rowsOf(deals);
  if (deals.error !== null && rows.length === 0) {
    return <Failure error={deals.error} again={() => deals.pages.retry()} />;
  }
  if (deals.pending) return <Skeleton width="60%" />;
  if (rows.length === 0) {
    return (
      <EmptyState icon="deals" title={t('noDeals')}>
        {t('noDealsHelp')}
      </EmptyState>
    );
  }
  return (
    <div className={styles.stack}>
      <ul className={styles.deals}>
        {rows.map((deal) => (
          <li key={deal.id} className={styles.deal}>
            <div className={styles.dealName}>
              <GoLink href={`/app/deals/${deal.id}`}>{deal.name}</GoLink>
              <span className="meta">
                {stages.get(deal.stage_id)} · <Time at={deal.closed_at ?? deal.created_at} />
              </span>
            </div>
            <Status tone={tones[deal.status]}>{t(deal.status)}</Status>
            <Money amount={deal.amount} currency={deal.currency} />
          </li>
        ))}
      </ul>
      <Rest list={deals} />
    </div>
  );
}
