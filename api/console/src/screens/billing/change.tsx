import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { formatDay, formatMoney } from '@/lib/intl';
import type { Result } from '@/lib/operations';
import { isProblem } from '@/lib/problem';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { RadioCards } from '@/ui/choice';
import { Dialog } from '@/ui/dialog';
import { Callout, Skeleton } from '@/ui/feedback';
import { toast } from '@/ui/toast';
import type { Account } from './billing';
import { BankConfirmation } from './bank';
import { usePortal } from './current';
import { t } from './messages';
import { useUndo } from './notices';
import { type Interval, type Plan, differences, timing } from './plans';
import { PreviewLines } from './previewlines';
import styles from './billing.module.css';

/** Wish is what was chosen, before its price is known. */
export interface Wish {
  plan: Plan;
  interval: Interval;
}

export type Change = Result<'post', '/billing/change-plan'>;
type When = 'now' | 'period_end';

/** ChangeDialog previews a change to the cent, and makes it for exactly that. */
export function ChangeDialog({ account, wish, onClose }: { account: Account; wish: Wish; onClose: () => void }) {
  const { plan, interval } = wish;
  const usual = timing(account.catalog, account.subscription, plan.key, interval);
  const [when, setWhen] = useState<When | null>(usual === 'period_end' ? usual : null);
  const [moved, setMoved] = useState(false);
  const [bank, setBank] = useState<Change | null>(null);
  const preview = usePreview(wish, when);
  const portal = usePortal();
  const change = useChange(wish, when, { onBank: setBank, onDone: onClose });
  const isStale = isProblem(change.error, 'preview_stale');
  useEffect(() => {
    if (!isStale) return;
    setMoved(true);
    change.reset();
    void preview.refetch();
  }, [isStale]);

  if (bank !== null) return <BankConfirmation change={bank} plan={plan} onClose={onClose} />;
  const data = preview.data?.data;
  const ready = data !== undefined && !preview.isFetching && preview.error === null;
  const failure = describe(change.error);
  const end = account.subscription.current_period_end;
  return (
    <Dialog
      open
      onClose={onClose}
      title={t(usual === 'start' ? 'startPlan' : 'previewTitle', { plan: plan.name })}
      intro={t('previewIntro')}
      foot={
        <>
          <Button onClick={onClose}>{t('back')}</Button>
          <Button
            kind="primary"
            disabled={!ready}
            busy={change.busy}
            onClick={() => data && void change.submit(data.preview_id)}
          >
            {data === undefined ? t('switchFree') : actionOf(data, usual === 'start', when, end)}
          </Button>
        </>
      }
    >
      <div className={styles.preview}>
        {usual === 'period_end' && end !== null && (
          <RadioCards<When>
            label={t('when')}
            value={when ?? 'period_end'}
            onChange={setWhen}
            options={[
              { value: 'period_end', label: t('atEnd'), help: t('atEndHelp', { date: formatDay(end) }) },
              { value: 'now', label: t('now'), help: t('nowHelp') },
            ]}
          />
        )}
        {moved && !change.busy && <Callout tone="warn">{t('priceMoved')}</Callout>}
        {failure && !isStale && (
          <Callout
            tone="bad"
            title={isProblem(change.error, 'payment_declined') ? t('declinedTitle') : failure.title}
            action={
              isProblem(change.error, 'payment_declined') && (
                <Button size="small" busy={portal.busy} onClick={() => void portal.submit(undefined)}>
                  {t('changeCard')}
                </Button>
              )
            }
          >
            {isProblem(change.error, 'payment_declined') ? t('declinedText') : failure.detail}
            {failure.request_id && (
              <>
                {' '}
                <code>{failure.request_id}</code>
              </>
            )}
          </Callout>
        )}
        {preview.error !== null ? (
          <Failure error={preview.error} again={() => void preview.refetch()} />
        ) : data === undefined ? (
          <PreviewSkeleton />
        ) : (
          <PreviewLines preview={data} isLater={when === 'period_end'} />
        )}
        <Losses account={account} plan={plan} />
      </div>
    </Dialog>
  );
}

function PreviewSkeleton() {
  return (
    <div className={styles.skeletons}>
      <Skeleton width="80%" />
      <Skeleton width="65%" />
      <Skeleton width="30%" />
    </div>
  );
}

/** Losses names what the plan has less of, so that nobody is surprised. */
function Losses({ account, plan }: { account: Account; plan: Plan }) {
  const { catalog, subscription } = account;
  const current = catalog.plans.find(({ key }) => key === subscription.plan);
  const less = plan.key === current?.key ? [] : differences(catalog, current, plan).filter((d) => d.kind === 'less');
  if (less.length === 0) return null;
  return (
    <Callout tone="warn" title={t('loses')}>
      <ul className={styles.losses}>
        {less.map(({ key, text, instead }) => (
          <li key={key}>
            {text}
            {instead !== undefined && ` ${t('instead', { value: instead })}`}
          </li>
        ))}
      </ul>
      {t('losesText')}
    </Callout>
  );
}

type Preview = Result<'post', '/billing/change-plan/preview'>;

/** actionOf returns the button's label, with the exact amount. */
function actionOf(preview: Preview, isStart: boolean, when: When | null, end: string | null): string {
  if (when === 'period_end' && end !== null) return t('schedule', { date: formatDay(end) });
  if (preview.amount_due <= 0) return t('switchFree');
  return t(isStart ? 'chargeStart' : 'charge', { amount: formatMoney(preview.amount_due, preview.currency) });
}

/** usePreview asks the payment processor for the amounts, and again when they have expired. */
function usePreview({ plan, interval }: Wish, when: When | null) {
  const api = useApi();
  const body = { plan: plan.key, interval, ...(when !== null && { when }) };
  const preview = useQuery({
    queryKey: ['preview', body],
    queryFn: ({ signal }) => api.post('/billing/change-plan/preview', { body, signal, repeatable: true }),
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const expires = preview.data?.data.expires_at;
  useEffect(() => {
    if (expires === undefined) return;
    const timer = setTimeout(() => void preview.refetch(), Math.max(1000, Date.parse(expires) - Date.now() - 15_000));
    return () => clearTimeout(timer);
  }, [expires]);
  return preview;
}

function useChange(
  { plan, interval }: Wish,
  when: When | null,
  { onBank, onDone }: { onBank: (change: Change) => void; onDone: () => void },
) {
  const api = useApi();
  const scope = useScope();
  const undo = useUndo();
  return useSubmit(
    (preview_id: string, idempotencyKey) =>
      api.post('/billing/change-plan', {
        body: { plan: plan.key, interval, preview_id, ...(when !== null && { when }) },
        idempotencyKey,
      }),
    ({ data }) => {
      invalidate(scope, '/billing/subscription', '/billing/my-entitlements', '/billing/invoices', '/api/v1/auth/me');
      if (data.status === 'action_required') {
        onBank(data);
        return;
      }
      announce(data, plan, (id) => void undo.submit(id));
      onDone();
    },
  );
}

/** announce shows what the change did. */
export function announce(change: Change, plan: Plan, undo: (id: string) => void): void {
  const { id } = change;
  if (change.status === 'scheduled') {
    toast({
      title: t('scheduled', { plan: plan.name, date: formatDay(change.effective_at) }),
      ...(id !== null && { onUndo: () => undo(id) }),
    });
  } else if (change.status === 'unchanged') {
    toast({ title: t('unchanged'), kind: 'plain' });
  } else {
    const charged = change.amount_due > 0;
    toast({
      title: t('applied', { plan: plan.name }),
      ...(charged && { detail: t('appliedDetail', { amount: formatMoney(change.amount_due, change.currency) }) }),
    });
  }
}
