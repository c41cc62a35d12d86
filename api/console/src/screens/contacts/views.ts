import { useQueryClient } from '@tanstack/react-query';
import { useRead } from '@/lib/read';
import { useApi } from '@/lib/services';
import { columnNames, defaultColumns, type ColumnName } from './columns';
import { readSearch, type ContactSearch } from './search';

/** View is a list that a person saved: its filters, order and columns. */
export interface View {
  name: string;
  search: ContactSearch;
  columns: readonly ColumnName[];
}

/** What is stored of the list of contacts for a user. */
export interface Saved {
  columns: readonly ColumnName[];
  views: readonly View[];
}

const key = 'contacts';

/** useSaved returns the user's views, and a function that stores them. */
export function useSaved(): { saved: Saved; store: (next: Saved) => Promise<void> } {
  const api = useApi();
  const queries = useQueryClient();
  const views = useRead('/api/v1/views');
  const saved = readSaved(views.data?.data.find((view) => view.key === key)?.value);
  const store = async (next: Saved) => {
    const value = { columns: [...next.columns], views: next.views.map((view) => ({ ...view })) };
    await api.put('/api/v1/views/{key}', { path: { key }, body: value });
    await queries.invalidateQueries({ queryKey: ['/api/v1/views'] });
  };
  return { saved, store };
}

/** readSaved returns what value has of the views, whatever else it holds. */
export function readSaved(value: unknown): Saved {
  const { columns, views } = isRecord(value) ? value : {};
  return { columns: readColumns(columns) ?? defaultColumns, views: Array.isArray(views) ? views.flatMap(readView) : [] };
}

function readView(value: unknown): View[] {
  if (!isRecord(value) || typeof value['name'] !== 'string' || !isRecord(value['search'])) return [];
  return [
    {
      name: value['name'],
      search: readSearch(value['search']),
      columns: readColumns(value['columns']) ?? defaultColumns,
    },
  ];
}

function readColumns(value: unknown): ColumnName[] | undefined {
  return Array.isArray(value) ? columnNames.filter((name) => value.includes(name)) : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** isSameView reports whether search is the list that view shows, whatever the side panel shows. */
export function isSameView(search: ContactSearch, view: View): boolean {
  return text(search) === text(view.search);
}

function text({ open: _, ...search }: ContactSearch): string {
  return JSON.stringify(Object.entries(search).sort());
}
