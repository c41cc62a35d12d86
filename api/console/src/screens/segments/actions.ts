import { invalidate, type Row } from '@/lib/read';
import { randomId } from '@/lib/random';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { toast } from '@/ui/toast';
import { archiveWithUndo } from '../record/archive';
import { report } from '../record/report';
import { t } from './messages';

export type Segment = Row<'/api/v1/crm/segments'>;

/** useSegmentActions returns what is done to a segment at once. */
export function useSegmentActions() {
  const api = useApi();
  const scope = useScope();
  const done = () => invalidate(scope, '/api/v1/crm/segments');
  const call = ({ id }: Segment) => ({
    archive: () => api.delete('/api/v1/crm/segments/{id}', { path: { id } }),
    restore: () => api.post('/api/v1/crm/segments/{id}/restore', { path: { id }, idempotencyKey: randomId() }),
  });
  return {
    archive: (segment: Segment) => archiveWithUndo(segment.name, call(segment), done),
    restore: async (segment: Segment) => {
      try {
        await call(segment).restore();
        toast({ title: t('restored', { name: segment.name }) });
      } catch (error) {
        report(t('notRestored'), error);
      }
      done();
    },
  };
}
