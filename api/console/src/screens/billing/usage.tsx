import { formatDay, formatNumber } from '@/lib/intl';
import { Progress } from '@/ui/feedback';
import { Card } from '@/ui/page';
import type { Account } from './billing';
import { featureName, t } from './messages';
import { meters } from './plans';
import styles from './billing.module.css';

/** Usage shows what is used of each limit of the plan. */
export function Usage({ account }: { account: Account }) {
  const all = meters(account.catalog, account.entitlements);
  if (all.length === 0) return null;
  return (
    <Card title={t('usage')}>
      <div className={styles.meters}>
        {all.map(({ key, used, max, tone, resetsAt }) => (
          <div key={key}>
            <Progress
              label={featureName(key)}
              value={used}
              max={max ?? Number.MAX_SAFE_INTEGER}
              detail={
                max === undefined
                  ? t('usageOpen', { used })
                  : t('usageOf', { used: formatNumber(used), max: formatNumber(max) })
              }
              {...(tone && { tone })}
            />
            {resetsAt && <p className="meta">{t('resets', { date: formatDay(resetsAt) })}</p>}
          </div>
        ))}
      </div>
    </Card>
  );
}
