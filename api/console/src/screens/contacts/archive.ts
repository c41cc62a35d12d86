import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { archiveWithUndo } from '../record/archive';
import { nameOf, type Contact } from '../record/types';

/** useArchive returns a function that archives a contact, with Undo. */
export function useArchive(): (contact: Contact) => void {
  const api = useApi();
  const scope = useScope();
  return (contact) => {
    const path = { id: contact.id };
    void archiveWithUndo(
      nameOf(contact),
      {
        archive: () => api.delete('/api/v1/crm/contacts/{id}', { path }),
        restore: () =>
          api.post('/api/v1/crm/contacts/{id}/restore', { path, idempotencyKey: crypto.randomUUID() }),
      },
      () => invalidate(scope, '/api/v1/crm/contacts'),
    );
  };
}
