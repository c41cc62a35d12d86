import { describe } from '@/lib/describe';
import { formatDay } from '@/lib/intl';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Callout } from '@/ui/feedback';
import { toast } from '@/ui/toast';
import { t } from './messages';
import { useResume } from './notices';

/** CancelDialog asks before the plan is canceled. The plan runs on to the end of what is paid. */
export function CancelDialog({
  plan,
  until,
  onClose,
}: {
  plan: string;
  until: string | null;
  onClose: () => void;
}) {
  const api = useApi();
  const scope = useScope();
  const resume = useResume();
  const date = until === null ? '' : formatDay(until);
  const cancel = useSubmit(
    (_: undefined, idempotencyKey) => api.post('/billing/cancel', { idempotencyKey }),
    ({ data }) => {
      invalidate(scope, '/billing/subscription', '/billing/my-entitlements');
      toast({ title: t('canceled', { date: formatDay(data.effective_at) }), onUndo: () => void resume.submit(undefined) });
      onClose();
    },
  );
  const failure = describe(cancel.error);
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('cancelTitle', { plan })}
      intro={t('cancelConsequence', { plan, date })}
      foot={
        <>
          <Button onClick={onClose}>{t('keep')}</Button>
          <Button kind="danger" busy={cancel.busy} onClick={() => void cancel.submit(undefined)}>
            {t('cancelAction')}
          </Button>
        </>
      }
    >
      {failure && (
        <Callout tone="bad" title={failure.title}>
          {failure.detail}
        </Callout>
      )}
    </Dialog>
  );
}
