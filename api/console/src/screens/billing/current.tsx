import { useEffect, useState } from 'react';
import { describe } from '@/lib/describe';
import { formatDay, formatMoney } from '@/lib/intl';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Card } from '@/ui/page';
import { Status, type Tone } from '@/ui/status';
import { toast } from '@/ui/toast';
import type { Account } from './billing';
import { CancelDialog } from './cancel';
import { t } from './messages';
import { isSubscribed } from './plans';
import styles from './billing.module.css';

const states: Readonly<Record<Account['entitlements']['status'], readonly [Tone, string]>> = {
  trialing: ['busy', 'Trial'],
  trial_ended: ['bad', 'Trial ended'],
  active: ['good', 'Active'],
  past_due: ['warn', 'Past due'],
  incomplete: ['warn', 'Payment open'],
  unpaid: ['bad', 'Not paid'],
  canceled: ['off', 'Canceled'],
  paused: ['off', 'Paused'],
};

/** usePortal returns a function that leads to the payment processor's page for cards and invoices. */
export function usePortal() {
  const api = useApi();
  return useSubmit(
    () => api.post('/billing/portal', {}),
    ({ data }) => window.location.assign(data.url),
  );
}

/** Current is the plan that the org has, its price, and when it renews or ends. */
export function Current({ account }: { account: Account }) {
  const { catalog, subscription, entitlements, isOwner } = account;
  const [asking, setAsking] = useState(false);
  const portal = usePortal();
  const plan = catalog.plans.find(({ key }) => key === subscription.plan);
  const [tone, word] = states[entitlements.status];
  const subscribed = isSubscribed(subscription);
  useEffect(() => {
    const failure = describe(portal.error);
    if (failure === null) return;
    toast({ kind: 'bad', title: t('portalFailed'), detail: failure.detail, requestId: failure.request_id ?? '' });
  }, [portal.error]);
  return (
    <Card>
      <div className={styles.current}>
        <div className={styles.grow}>
          <h2 className={styles.planName}>{plan?.name ?? subscription.plan}</h2>
          <p className={styles.facts}>
            <Status tone={tone}>{word}</Status>
            {[priceOf(account), nextDate(account)].filter(Boolean).map((text) => (
              <span key={text}>{text}</span>
            ))}
          </p>
        </div>
        {isOwner && subscribed && (
          <div className={styles.buttons}>
            <Button onClick={() => void portal.submit(undefined)} busy={portal.busy} after="external">
              {t('manage')}
            </Button>
            {!subscription.cancel_at_period_end && (
              <Button kind="quiet" onClick={() => setAsking(true)}>
                {t('cancel')}
              </Button>
            )}
          </div>
        )}
      </div>
      {asking && (
        <CancelDialog
          plan={plan?.name ?? subscription.plan}
          until={subscription.current_period_end}
          onClose={() => setAsking(false)}
        />
      )}
    </Card>
  );
}

function priceOf({ catalog, subscription }: Account): string {
  const plan = catalog.plans.find(({ key }) => key === subscription.plan);
  if (subscription.interval === null || plan === undefined) return '';
  const amount = plan.prices[subscription.interval];
  if (amount === null) return t('agreed');
  const price = formatMoney(amount, catalog.currency);
  return subscription.interval === 'year' ? t('perYear', { price }) : t('perMonth', { price });
}

function nextDate({ subscription }: Account): string {
  const { trial_ends_at, current_period_end, cancel_at_period_end, interval } = subscription;
  if (interval === null) return trial_ends_at === null ? t('trialOpen') : t('trialUntil', { date: formatDay(trial_ends_at) });
  if (current_period_end === null) return '';
  const date = formatDay(current_period_end);
  return cancel_at_period_end ? t('ends', { date }) : t('renews', { date });
}
