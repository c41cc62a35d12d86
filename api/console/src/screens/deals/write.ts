import { randomId } from '@/lib/random';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { archiveWithUndo } from '../record/archive';
import type { Deal } from './board';

/** useRefreshDeals returns a function that reads again what shows deals. */
export function useRefreshDeals(): () => void {
  const scope = useScope();
  return () => invalidate(scope, '/api/v1/crm/deals', '/api/v1/crm/pipelines');
}

/** useArchiveDeal returns a function that archives a deal, with Undo. */
export function useArchiveDeal(): (deal: Deal) => void {
  const api = useApi();
  const refresh = useRefreshDeals();
  return (deal) => {
    const path = { id: deal.id };
    void archiveWithUndo(
      deal.name,
      {
        archive: () => api.delete('/api/v1/crm/deals/{id}', { path }),
        restore: () => api.post('/api/v1/crm/deals/{id}/restore', { path, idempotencyKey: randomId() }),
      },
      refresh,
    ).then((done) => done || refresh());
  };
}
