import { randomId } from '@/lib/random';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { toast } from '@/ui/toast';
import { report } from '../record/report';
import { t } from './messages';

/** useUnmerge returns a function that takes a merge back. */
export function useUnmerge(): (id: string) => Promise<void> {
  const api = useApi();
  const scope = useScope();
  return async (id) => {
    try {
      await api.post('/api/v1/crm/merges/{id}/undo', { path: { id }, idempotencyKey: randomId() });
      toast({ title: t('unmerged') });
    } catch (error) {
      report(t('notUnmerged'), error);
    }
    invalidate(scope, '/api/v1/crm/contacts', '/api/v1/crm/merges');
  };
}
