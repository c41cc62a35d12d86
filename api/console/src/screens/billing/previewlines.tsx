import { formatDay } from '@/lib/intl';
import type { Result } from '@/lib/operations';
import { Money } from '@/ui/money';
import { t } from './messages';
import styles from './billing.module.css';

/** PreviewLines shows each line of what a change costs, its period, and the total. */
export function PreviewLines({
  preview,
  isLater,
}: {
  preview: Result<'post', '/billing/change-plan/preview'>;
  isLater: boolean;
}) {
  const { lines, currency, amount_due, proration_date } = preview;
  const sum = lines.reduce((total, line) => total + line.amount, 0);
  const isCredit = !isLater && sum < 0;
  return (
    <table className={styles.lines}>
      <tbody>
        {lines.map((line, i) => (
          <tr key={i}>
            <th scope="row">
              {line.description}
              <span className={styles.period}>
                {t('period', { from: formatDay(line.period_start), to: formatDay(line.period_end) })}
              </span>
            </th>
            <td>
              <Money amount={line.amount} currency={currency} />
            </td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        {isCredit && (
          <tr className={styles.credit}>
            <th scope="row">{t('toCredit')}</th>
            <td>
              <Money amount={-sum} currency={currency} />
            </td>
          </tr>
        )}
        <tr>
          <th scope="row">{t('dueNow')}</th>
          <td>
            <Money amount={amount_due} currency={currency} />
          </td>
        </tr>
        <tr className={styles.acts}>
          <th scope="row">{t('acts')}</th>
          <td>{isLater ? t('actsAt', { date: formatDay(proration_date) }) : t('actsNow')}</td>
        </tr>
      </tfoot>
    </table>
  );
}
