import { Failure } from '@/app/failure';
import { formatDay, formatNumber } from '@/lib/intl';
import { useRead } from '@/lib/read';
import { Progress, Skeleton } from '@/ui/feedback';
import { Card } from '@/ui/page';
import { label } from '../record/label';
import { t } from './messages';
import styles from './ai.module.css';

/** Usage shows the AI tokens of the month. */
export function Usage() {
  const read = useRead('/api/v1/ai/usage');
  const usage = read.data;
  if (usage === undefined) {
    return (
      <Card title={t('usage')}>
        {read.error === null ? <Skeleton width="60%" /> : <Failure error={read.error} again={read.again} />}
      </Card>
    );
  }
  const { used, limit } = usage;
  const share = limit === null || limit === 0 ? 0 : used / limit;
  return (
    <Card title={t('usage')}>
      <div className={styles.stack}>
        <p className={styles.soft}>{t('usageText')}</p>
        <Progress
          label={t('tokens')}
          value={used}
          max={limit ?? Number.MAX_SAFE_INTEGER}
          detail={limit === null ? t('usedOpen', { used }) : t('usedOf', { used, limit })}
          {...(share >= 1 ? { tone: 'bad' as const } : share >= 0.8 ? { tone: 'warn' as const } : {})}
        />
        <p className="meta">
          {t('resets', { date: formatDay(usage.resets_at), count: usage.per_minute })}{' '}
          {usage.reserved > 0 && t('reserved', { count: usage.reserved })}
        </p>
        {usage.operations.length === 0 ? (
          <p className={styles.soft}>{t('noUse')}</p>
        ) : (
          <table className={styles.table}>
            <thead>
              <tr>
                <th scope="col">{t('operation')}</th>
                <th scope="col">{t('requests')}</th>
                <th scope="col">{t('tokenCount')}</th>
              </tr>
            </thead>
            <tbody>
              {usage.operations.map(({ operation, requests, tokens }) => (
                <tr key={operation}>
                  <th scope="row">{names[operation] ?? label(operation)}</th>
                  <td className="num">{formatNumber(requests)}</td>
                  <td className="num">{formatNumber(tokens)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </Card>
  );
}

const names: Readonly<Record<string, string>> = {
  draft_email: t('draft_email'),
  summarize_contact: t('summarize_contact'),
  next_action: t('next_action'),
  classify_reply: t('classify_reply'),
  draft_reply: t('draft_reply'),
};
