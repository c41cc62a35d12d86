import { useNavigate } from '@tanstack/react-router';
import { tellFailure } from '@/app/tell';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { toast } from '@/ui/toast';
import { t } from './messages';
import type { Webhook } from './words';

/** useWebhookActions returns what a row and a page do with a webhook. show is called with its new state at once. */
export function useWebhookActions(show: (id: string, change: Partial<Webhook>) => void = () => {}) {
  const api = useApi();
  const scope = useScope();
  const refresh = () => invalidate(scope, '/api/v1/webhooks', '/api/v1/audit-log');

  const setEnabled = async (hook: Webhook, enabled: boolean, undoable = true): Promise<void> => {
    show(hook.id, { enabled, disabled_reason: null });
    try {
      await api.patch('/api/v1/webhooks/{id}', { path: { id: hook.id }, body: { enabled } });
      const undo = undoable ? { onUndo: () => void setEnabled(hook, !enabled, false) } : {};
      toast({ title: enabled ? t('wasEnabled') : t('wasDisabled'), ...undo });
    } catch (error) {
      show(hook.id, { enabled: hook.enabled, disabled_reason: hook.disabled_reason });
      tellFailure(error);
    }
    refresh();
  };

  const restore = async (hook: Webhook) => {
    try {
      await api.post('/api/v1/webhooks/{id}/restore', { path: { id: hook.id } });
      toast({ title: t('restored') });
    } catch (error) {
      tellFailure(error);
    }
    refresh();
  };

  const archive = async (hook: Webhook): Promise<boolean> => {
    try {
      await api.delete('/api/v1/webhooks/{id}', { path: { id: hook.id } });
    } catch (error) {
      tellFailure(error);
      return false;
    }
    toast({ title: t('archived'), onUndo: () => void restore(hook) });
    refresh();
    return true;
  };
  return { setEnabled, archive };
}

/** useRedeliver sends the event of a delivery again and tells where the new delivery is. */
export function useRedeliver() {
  const api = useApi();
  const scope = useScope();
  const navigate = useNavigate();
  const send = useSubmit(
    (delivery: { id: string }, idempotencyKey) =>
      api.post('/api/v1/webhook-deliveries/{id}/redeliver', { path: { id: delivery.id }, idempotencyKey }),
    ({ data }) => {
      invalidate(scope, '/api/v1/webhook-deliveries', '/api/v1/webhooks');
      const to = { to: '/app/settings/integrations/webhooks/$id/deliveries/$d', params: { id: data.webhook_id, d: data.id } };
      toast({ title: t('redelivered'), action: { label: t('view'), onClick: () => void navigate(to) } });
    },
  );
  return { ...send, busy: send.busy };
}
