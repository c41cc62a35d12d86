import { useRef } from 'react';
import type { Answer } from '@/lib/api';
import { saveEdit } from '@/lib/edit';
import type { Options } from '@/lib/operations';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { toast } from '@/ui/toast';
import { t } from './messages';
import type { Settings } from './words';

export type Changes = Options<'put', '/api/v1/org/sending'>['body'];

/** useSave saves changes to the settings as they were when the form was opened. What others changed stays. */
export function useSave(answer: Answer<Settings>) {
  const api = useApi();
  const scope = useScope();
  const base = useRef(answer);
  return useSubmit(
    (body: Changes) =>
      saveEdit(base.current, { ...body }, {
        patch: (_, etag) => api.put('/api/v1/org/sending', { body, ifMatch: etag }),
        get: () => api.get('/api/v1/org/sending'),
      }),
    (stored) => {
      base.current = stored;
      invalidate(scope, '/api/v1/org/sending');
      toast({ title: t('saved') });
    },
  );
}
