import { useRef } from 'react';
import type { Answer } from '@/lib/api';
import { saveEdit } from '@/lib/edit';
import type { Options } from '@/lib/operations';
import { randomId } from '@/lib/random';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { toast } from '@/ui/toast';
import { t } from './messages';
import type { Mailbox } from './words';

export type Changes = Options<'patch', '/api/v1/mailboxes/{id}'>['body'];

/**
 * useSave saves changes to the mailbox as it was when the form was opened. What others have changed in the meantime
 * stays, and a change of the same fields is refused.
 */
export function useSave(answer: Answer<Mailbox>) {
  const api = useApi();
  const scope = useScope();
  const base = useRef(answer);
  const path = { id: answer.data.id };
  return useSubmit(
    (body: Changes, idempotencyKey) =>
      saveEdit(base.current, { ...body }, {
        patch: (_, etag) =>
          api.patch('/api/v1/mailboxes/{id}', {
            path,
            body,
            ifMatch: etag,
            idempotencyKey: etag === base.current.etag ? idempotencyKey : randomId(),
          }),
        get: () => api.get('/api/v1/mailboxes/{id}', { path }),
      }),
    (stored) => {
      base.current = stored;
      invalidate(scope, '/api/v1/mailboxes');
      toast({ title: t('saved') });
    },
  );
}
