import type { ReactNode } from 'react';
import { describe } from '@/lib/describe';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { ConfirmDialog } from '@/ui/dialog';
import { toast } from '@/ui/toast';
import { useClientActions } from './actions';
import type { Client } from './clients';
import { t } from './messages';

/** PauseClient asks before a client org becomes read-only. */
export function PauseClient({ client, onClose }: { client: Client; onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const { resume } = useClientActions();
  const pause = useSubmit(
    (id: string, idempotencyKey) => api.post('/api/v1/orgs/clients/{id}/pause', { path: { id }, idempotencyKey }),
    () => {
      invalidate(scope, '/api/v1/orgs/clients');
      toast({ title: t('pausedToast', { name: client.name }), onUndo: () => void resume(client) });
      onClose();
    },
  );
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t('pauseTitle', { name: client.name })}
      consequence={<Consequence error={pause.error}>{t('pauseText')}</Consequence>}
      action={t('pauseClient')}
      busy={pause.busy}
      onConfirm={() => void pause.submit(client.id)}
    />
  );
}

/** DetachClient asks before a client org is released for good. */
export function DetachClient({ client, onClose }: { client: Client; onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const detach = useSubmit(
    (id: string, idempotencyKey) => api.post('/api/v1/orgs/clients/{id}/detach', { path: { id }, idempotencyKey }),
    () => {
      invalidate(scope, '/api/v1/orgs/clients', '/billing/my-entitlements');
      toast({ title: t('detachedToast', { name: client.name }) });
      onClose();
    },
  );
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t('detachTitle', { name: client.name })}
      consequence={<Consequence error={detach.error}>{t('detachText')}</Consequence>}
      action={t('detachClient')}
      type={client.name}
      busy={detach.busy}
      onConfirm={() => void detach.submit(client.id)}
    />
  );
}

function Consequence({ error, children }: { error: unknown; children: ReactNode }) {
  return (
    <>
      <p>{children}</p>
      {error !== null && <p role="alert">{describe(error)?.detail}</p>}
    </>
  );
}
