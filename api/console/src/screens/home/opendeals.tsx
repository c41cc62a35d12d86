import { formatNumber } from '@/lib/intl';
import { Money } from '@/ui/money';
import { Status, type Tone } from '@/ui/status';
import { GoLink } from '../record/golink';
import type { Overview } from './figures';
import { t } from './messages';
import styles from './home.module.css';

/** OpenDeals shows what is open now and what was won and lost, by currency. */
export function OpenDeals({ days, deals }: { days: number; deals: Overview['deals'] }) {
  const rows: [name: string, tone: Tone, sums: Overview['deals']['open']][] = [
    [t('pipeline'), 'busy', deals.open],
    [t('wonRow'), 'good', deals.won],
    [t('lostRow'), 'bad', deals.lost],
  ];
  const all = rows.flatMap(([name, tone, sums]) => sums.map((sum) => ({ name, tone, ...sum })));
  return (
    <section aria-label={t('closed', { count: days })}>
      <div className={styles.headingLine}>
        <h2 className={styles.heading}>{t('closed', { count: days })}</h2>
        <GoLink href="/app/deals">{t('toBoard')}</GoLink>
      </div>
      {all.length === 0 ? (
        <p className={styles.nothing}>{t('noDeals')}</p>
      ) : (
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">{t('status')}</th>
              <th scope="col">{t('count')}</th>
              <th scope="col">{t('amount')}</th>
            </tr>
          </thead>
          <tbody>
            {all.map((row) => (
              <tr key={row.name + row.currency}>
                <th scope="row">
                  <Status tone={row.tone}>{row.name}</Status>
                </th>
                <td>{formatNumber(row.count)}</td>
                <td>
                  <Money amount={row.amount} currency={row.currency} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
