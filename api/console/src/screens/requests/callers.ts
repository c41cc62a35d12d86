import { useMemo } from 'react';
import { useRead, type Row } from '@/lib/read';
import type { Tone } from '@/ui/status';
import { t } from './messages';

export type LoggedRequest = Row<'/api/v1/request-log'>;

/** useCallers returns the names of who called, and the API keys that can be chosen as a filter. */
export function useCallers() {
  const members = useRead('/api/v1/members', { query: { limit: 200 } }).data;
  const keys = useRead('/api/v1/api-keys', { query: { limit: 200 } }).data;
  return useMemo(() => {
    const names = new Map<string, string>();
    for (const one of members?.data ?? []) {
      if (one.status === 'active') names.set(one.id, `${one.first_name} ${one.last_name}`.trim() || one.email);
    }
    const options = (keys?.data ?? []).map((key) => ({ value: key.id, label: t('key', { name: key.name }) }));
    for (const { value, label } of options) names.set(value, label);
    return {
      keys: options,
      nameOf: ({ key_id, user_id }: LoggedRequest): string => {
        if (key_id !== null) return names.get(key_id) ?? t('formerKey');
        return names.get(user_id ?? '') ?? t('formerUser');
      },
    };
  }, [members, keys]);
}

/** toneOf returns the colour of a status. */
export function toneOf(status: number): Tone {
  if (status >= 500) return 'bad';
  return status >= 400 ? 'warn' : 'good';
}

/** routeOf returns the route of a request in words. */
export function routeOf(request: LoggedRequest): string {
  return request.route ?? t('noRoute');
}

/** duration returns a time that something took. */
export function duration(milliseconds: number): string {
  if (milliseconds >= 1000) return t('seconds', { n: (milliseconds / 1000).toFixed(1) });
  return t('milliseconds', { n: milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds) });
}
