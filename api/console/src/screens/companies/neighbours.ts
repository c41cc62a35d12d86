import { useQueryClient } from '@tanstack/react-query';
import type { List } from '@/lib/read';
import { useList } from '@/lib/read';
import type { Company } from '../record/types';
import { toQuery, type CompanySearch } from './search';

const key = ['console', 'companies', 'shown'];

/** useCompanies reads the list that search shows, and keeps in mind that it was the last one shown. */
export function useCompanies(search: CompanySearch): List<Company> {
  const queries = useQueryClient();
  queries.setQueryData(key, search);
  return useList('/api/v1/crm/companies', { query: { ...toQuery(search), count: 'estimate' } });
}

/** useShownSearch returns the list that was shown last, for the way back and the neighbours of a company. */
export function useShownSearch(): CompanySearch {
  const { open: _, ...search } = useQueryClient().getQueryData<CompanySearch>(key) ?? {};
  return search;
}
