import { useMemo } from 'react';
import { useRead, type Row } from '@/lib/read';
import { t } from './messages';

export type Entry = Row<'/api/v1/audit-log'>;

/** usePeople returns the names of the members and API keys by id, and those that can be chosen as a filter. */
export function usePeople() {
  const members = useRead('/api/v1/members', { query: { limit: 200 } }).data;
  const keys = useRead('/api/v1/api-keys', { query: { limit: 200 } }).data;
  return useMemo(() => {
    const names = new Map<string, string>();
    for (const one of members?.data ?? []) {
      if (one.status === 'active') names.set(one.id, `${one.first_name} ${one.last_name}`.trim() || one.email);
    }
    for (const key of keys?.data ?? []) names.set(key.id, t('key', { name: key.name }));
    return {
      options: [...names].map(([value, label]) => ({ value, label })),
      nameOf: ({ type, id }: Entry['actor']): string => {
        if (type === 'system' || id === null) return t('system');
        return names.get(id) ?? t(type === 'api_key' ? 'formerKey' : 'formerUser');
      },
      find: (id: string) => names.get(id),
    };
  }, [members, keys]);
}
