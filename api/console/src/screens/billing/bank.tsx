import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { formatExactTime, formatMoney } from '@/lib/intl';
import { invalidate, readOptions } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button, buttonLook } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Callout, Progress } from '@/ui/feedback';
import { toast } from '@/ui/toast';
import type { Change } from './change';
import { t } from './messages';
import type { Plan } from './plans';
import styles from './billing.module.css';

/** How often the state of a change is read while the bank is asked. The event of the change may come sooner. */
const readEvery = 2000;

/** BankConfirmation leads to the bank's confirmation of a payment and follows the change until it is decided. */
export function BankConfirmation({ change, plan, onClose }: { change: Change; plan: Plan; onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const id = change.id ?? '';
  const state = useQuery({
    ...readOptions(api, '/billing/changes/{id}', { path: { id } }),
    refetchInterval: (query) => (isOpen(query.state.data?.data.status) ? readEvery : false),
    refetchIntervalInBackground: true,
    enabled: id !== '',
  });
  const status = state.data?.data.status;
  const failed = status === 'failed' || status === 'undone';
  useEffect(() => {
    if (isOpen(status)) return;
    invalidate(scope, '/billing/subscription', '/billing/my-entitlements', '/billing/invoices');
    if (status !== 'applied') return;
    toast({
      title: t('applied', { plan: plan.name }),
      detail: t('appliedDetail', { amount: formatMoney(change.amount_due, change.currency) }),
    });
    onClose();
  }, [status]);
  return (
    <Dialog
      open
      keep
      onClose={onClose}
      title={t('bankTitle')}
      intro={t('bankIntro', { amount: formatMoney(change.amount_due, change.currency) })}
      foot={
        <>
          <Button onClick={onClose}>{t(failed ? 'close' : 'later')}</Button>
          {!failed && change.hosted_invoice_url !== undefined && (
            <a
              className={buttonLook({ kind: 'primary' })}
              href={change.hosted_invoice_url}
              target="_blank"
              rel="noopener noreferrer"
            >
              {t('openBank')}
            </a>
          )}
        </>
      }
    >
      {failed ? (
        <Callout tone="bad">{t('failedChange')}</Callout>
      ) : (
        <div className={styles.preview}>
          <Progress label={t('bankWaiting')} value={0} detail=" " tone="busy" />
          {change.expires_at !== undefined && (
            <p className={styles.quiet}>{t('bankUntil', { date: formatExactTime(change.expires_at) })}</p>
          )}
          {change.hosted_invoice_url === undefined && <p className={styles.quiet}>{t('noBank')}</p>}
        </div>
      )}
    </Dialog>
  );
}

function isOpen(status: string | undefined): boolean {
  return status === undefined || status === 'action_required' || status === 'in_flight';
}
