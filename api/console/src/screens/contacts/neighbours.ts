import { useQueryClient } from '@tanstack/react-query';
import type { List } from '@/lib/read';
import { useList } from '@/lib/read';
import type { Contact } from '../record/types';
import { toQuery, type ContactSearch } from './search';

const key = ['console', 'contacts', 'shown'];

/** useContacts reads the list that search shows, and keeps in mind that it was the last one shown. */
export function useContacts(search: ContactSearch): List<Contact> {
  const queries = useQueryClient();
  queries.setQueryData(key, search);
  return useList('/api/v1/crm/contacts', { query: { ...toQuery(search), count: 'estimate' } });
}

/** useShownSearch returns the list that was shown last, for the way back and the neighbours of a contact. */
export function useShownSearch(): ContactSearch {
  const { open: _, ...search } = useQueryClient().getQueryData<ContactSearch>(key) ?? {};
  return search;
}
