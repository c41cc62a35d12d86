import { useApi } from '@/lib/services';
import { useAct } from '../mail/act';
import { t } from './messages';
import type { Mailbox } from './words';

/** useMailboxActions returns what a row and a page do with a mailbox. */
export function useMailboxActions() {
  const api = useApi();
  const { busy, run } = useAct('/api/v1/mailboxes');
  const path = ({ id }: Pick<Mailbox, 'id'>) => ({ id });
  return {
    busy,
    test: (one: Pick<Mailbox, 'id'>) =>
      run('test', (idempotencyKey) => api.post('/api/v1/mailboxes/{id}/test', { path: path(one), idempotencyKey }), {
        title: t('testing'),
        detail: t('testingText'),
      }),
    hold: (one: Mailbox) =>
      run('hold', (idempotencyKey) => api.post('/api/v1/mailboxes/{id}/hold', { path: path(one), idempotencyKey }), {
        title: t('held'),
      }),
    resume: (one: Mailbox) =>
      run(
        'resume',
        (idempotencyKey) => api.post('/api/v1/mailboxes/{id}/resume', { path: path(one), idempotencyKey }),
        { title: t('resumed') },
      ),
    archive: (one: Mailbox) =>
      run('archive', () => api.delete('/api/v1/mailboxes/{id}', { path: path(one) }), {
        title: t('archived'),
        onUndo: () =>
          void run(
            'restore',
            (idempotencyKey) => api.post('/api/v1/mailboxes/{id}/restore', { path: path(one), idempotencyKey }),
            { title: t('restored') },
          ),
      }),
  };
}

/** mayResume reports whether resume acts on a mailbox: it ends a hold, and a disablement by the platform. */
export function mayResume(one: Mailbox): boolean {
  return one.status === 'held' || one.status === 'disabled';
}
