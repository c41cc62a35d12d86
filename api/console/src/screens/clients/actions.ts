import { randomId } from '@/lib/random';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { toast } from '@/ui/toast';
import { report } from '../record/report';
import type { Client } from './clients';
import { t } from './messages';

/** useClientActions returns what is done to a client org without a question. */
export function useClientActions() {
  const api = useApi();
  const scope = useScope();
  return {
    resume: async ({ id, name }: Client) => {
      try {
        await api.post('/api/v1/orgs/clients/{id}/resume', { path: { id }, idempotencyKey: randomId() });
        toast({ title: t('resumed', { name }) });
      } catch (error) {
        report(t('failed'), error);
      }
      invalidate(scope, '/api/v1/orgs/clients');
    },
  };
}
