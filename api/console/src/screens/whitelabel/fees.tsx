import { Failure } from '@/app/failure';
import { useList } from '@/lib/read';
import { Skeleton } from '@/ui/feedback';
import { Money } from '@/ui/money';
import { Card } from '@/ui/page';
import { Time } from '@/ui/time';
import { Rest, rowsOf } from '../record/rest';
import { t } from './messages';
import styles from './whitelabel.module.css';

/** Fees lists what clients paid, and what of it went to the payment processor and to the platform. */
export function Fees() {
  const list = useList('/white-label/connect/fees', { query: {} });
  const rows = rowsOf(list);
  return (
    <Card title={t('fees')}>
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : list.pending ? (
        <Skeleton width="60%" />
      ) : rows.length === 0 ? (
        <p className={styles.soft}>{t('noFees')}</p>
      ) : (
        <div className={styles.scroll} role="region" aria-label={t('fees')} tabIndex={0}>
          <table className={styles.fees}>
            <thead>
              <tr>
                <th scope="col">{t('paid')}</th>
                <th scope="col">{t('gross')}</th>
                <th scope="col">{t('processorFee')}</th>
                <th scope="col">{t('platformFee')}</th>
                <th scope="col">{t('refunded')}</th>
                <th scope="col">{t('net')}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((fee) => (
                <tr key={fee.invoice_id}>
                  <th scope="row">
                    <Time at={fee.paid_at} />
                  </th>
                  <td>
                    <Money amount={fee.gross} currency={fee.currency} />
                  </td>
                  <td>
                    <Money amount={fee.stripe_fee} currency={fee.currency} />
                  </td>
                  <td>
                    <Money amount={fee.application_fee - fee.application_fee_refunded} currency={fee.currency} />
                  </td>
                  <td>
                    <Money amount={fee.refunded} currency={fee.currency} />
                  </td>
                  <td>
                    <Money amount={fee.net} currency={fee.currency} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <Rest list={list} />
        </div>
      )}
    </Card>
  );
}
