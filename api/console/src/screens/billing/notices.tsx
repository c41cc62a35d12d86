import { useRead } from '@/lib/read';
import { describe } from '@/lib/describe';
import { formatDay, formatMoney } from '@/lib/intl';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button, buttonLook } from '@/ui/button';
import { Callout } from '@/ui/feedback';
import { toast } from '@/ui/toast';
import type { Account } from './billing';
import { usePortal } from './current';
import { t } from './messages';
import { type PlanChange, isSubscribed } from './plans';
import styles from './billing.module.css';

/** Notices are the states of billing that somebody must know or act on. */
export function Notices({ account }: { account: Account }) {
  const { subscription, entitlements } = account;
  const { open_change: open, scheduled_change: scheduled } = subscription;
  const isCanceled = subscription.cancel_at_period_end && subscription.current_period_end !== null;
  return (
    <div className={styles.notices}>
      <TrialNotice account={account} />
      {(entitlements.status === 'past_due' || entitlements.status === 'unpaid') && <UnpaidNotice account={account} />}
      {entitlements.status === 'paused' && <Callout tone="warn" title={t('pausedTitle')} />}
      {open && <OpenNotice account={account} change={open} />}
      {scheduled && scheduled.kind !== 'cancel' && <ScheduledNotice account={account} change={scheduled} />}
      {isCanceled && <EndNotice account={account} />}
    </div>
  );
}

function TrialNotice({ account: { subscription, entitlements } }: { account: Account }) {
  if (entitlements.status === 'trial_ended') {
    return (
      <Callout tone="warn" title={t('trialEndedTitle')}>
        {t('trialEndedText')}
      </Callout>
    );
  }
  if (isSubscribed(subscription) || subscription.trial_ends_at === null) return null;
  const days = Math.floor((Date.parse(subscription.trial_ends_at) - Date.now()) / 86_400_000);
  return (
    <Callout tone={days < 4 ? 'warn' : 'off'} title={days < 1 ? t('trialToday') : t('trialTitle', { count: days })}>
      {t('trialText', { date: formatDay(subscription.trial_ends_at) })}
    </Callout>
  );
}

function UnpaidNotice({ account }: { account: Account }) {
  const portal = usePortal();
  const isPastDue = account.entitlements.status === 'past_due';
  return (
    <Callout
      tone={isPastDue ? 'warn' : 'bad'}
      title={t(isPastDue ? 'pastDueTitle' : 'unpaidTitle')}
      action={
        account.isOwner && (
          <Button size="small" busy={portal.busy} onClick={() => void portal.submit(undefined)}>
            {t('changeCard')}
          </Button>
        )
      }
    >
      {t(isPastDue ? 'pastDueText' : 'unpaidText')}
    </Callout>
  );
}

/** A change that is being made, or that waits for the bank's confirmation. */
function OpenNotice({ account, change }: { account: Account; change: PlanChange }) {
  const plan = planName(account, change.plan);
  if (change.status !== 'action_required') {
    return (
      <Callout tone="busy" title={t('inFlightTitle', { plan })}>
        {t('inFlightText')}
      </Callout>
    );
  }
  return (
    <Callout
      tone="warn"
      title={t('actionTitle')}
      action={account.isOwner && change.invoice_id !== null && <ConfirmLink invoice={change.invoice_id} />}
    >
      {t('actionText', { plan, amount: formatMoney(change.amount_due, change.currency) })}
    </Callout>
  );
}

/** ConfirmLink leads to the page where the invoice is confirmed or paid. */
function ConfirmLink({ invoice }: { invoice: string }) {
  const invoices = useRead('/billing/invoices', { query: { limit: 20 } });
  const url = invoices.data?.data.find(({ id }) => id === invoice)?.hosted_invoice_url;
  if (!url) return null;
  return (
    <a className={buttonLook({ size: 'small' })} href={url} target="_blank" rel="noopener noreferrer">
      {t('confirmPayment')}
    </a>
  );
}

function ScheduledNotice({ account, change }: { account: Account; change: PlanChange }) {
  const undo = useUndo();
  const date = change.effective_at === null ? '' : formatDay(change.effective_at);
  return (
    <Callout
      tone="busy"
      title={t('scheduledTitle', { plan: planName(account, change.plan), date })}
      action={
        account.isOwner && (
          <Button size="small" icon="undo" busy={undo.busy} onClick={() => void undo.submit(change.id)}>
            {t('undo')}
          </Button>
        )
      }
    >
      {t('scheduledText')}
      <Problem error={undo.error} />
    </Callout>
  );
}

function EndNotice({ account }: { account: Account }) {
  const resume = useResume();
  const date = formatDay(account.subscription.current_period_end ?? '');
  return (
    <Callout
      tone="warn"
      title={t('endsTitle', { date })}
      action={
        account.isOwner && (
          <Button size="small" icon="undo" busy={resume.busy} onClick={() => void resume.submit(undefined)}>
            {t('keep')}
          </Button>
        )
      }
    >
      {t('endsText')}
      <Problem error={resume.error} />
    </Callout>
  );
}

function Problem({ error }: { error: unknown }) {
  const failure = describe(error);
  if (failure === null) return null;
  return (
    <p role="alert">
      {t('notDone')}: {failure.detail}
    </p>
  );
}

/** useUndo takes back a change that has not begun yet. */
export function useUndo() {
  const api = useApi();
  const scope = useScope();
  return useSubmit(
    (id: string, idempotencyKey) => api.post('/billing/changes/{id}/undo', { path: { id }, idempotencyKey }),
    () => {
      invalidate(scope, '/billing/subscription', '/billing/my-entitlements');
      toast({ title: t('undone') });
    },
  );
}

/** useResume takes back the cancellation. */
export function useResume() {
  const api = useApi();
  const scope = useScope();
  return useSubmit(
    (_: undefined, idempotencyKey) => api.post('/billing/resume', { idempotencyKey }),
    () => {
      invalidate(scope, '/billing/subscription', '/billing/my-entitlements');
      toast({ title: t('resumed') });
    },
  );
}

function planName({ catalog }: Account, key: string | null): string {
  return catalog.plans.find((plan) => plan.key === key)?.name ?? key ?? '';
}
