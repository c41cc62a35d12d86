import { tellFailure } from '@/app/tell';
import { formatTime } from '@/lib/intl';
import type { Options } from '@/lib/operations';
import { randomId } from '@/lib/random';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { toast } from '@/ui/toast';
import { t } from './messages';

export type NewEmail = Options<'post', '/api/v1/crm/emails'>['body'];

/** useSend sends a mail now or later. A scheduled one can be taken back from the toast. */
export function useSend(onDone: () => void) {
  const api = useApi();
  const scope = useScope();
  const refresh = () =>
    invalidate(scope, '/api/v1/crm/threads', '/api/v1/crm/emails', '/api/v1/crm/contacts/{id}/timeline');
  const cancel = async (id: string) => {
    try {
      await api.post('/api/v1/crm/emails/{id}/cancel', { path: { id }, idempotencyKey: randomId() });
      toast({ title: t('cancelled') });
    } catch (error) {
      tellFailure(error);
    } finally {
      refresh();
    }
  };
  return useSubmit(
    (body: NewEmail, idempotencyKey) => api.post('/api/v1/crm/emails', { body, idempotencyKey }),
    ({ data: { id, scheduled_at: at } }) => {
      refresh();
      toast(
        at === null
          ? { title: t('sent') }
          : { title: t('scheduled', { time: formatTime(at) }), onUndo: () => void cancel(id) },
      );
      onDone();
    },
  );
}
