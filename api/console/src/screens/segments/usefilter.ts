import { useMemo, useState } from 'react';
import { isProblem } from '@/lib/problem';
import type { Fields } from './fields';
import { type Fault, faults, type Group, limits, newCondition, newGroup, readFilter, refusedAt, writeFilter } from './filter';
import { t } from './messages';

/**
 * useFilter keeps a filter that is edited. stored is the one to begin with; null begins a new one. at is where the
 * filter is in the request.
 */
export function useFilter(stored: unknown, fields: Fields, at = '/filter') {
  const [base, setBase] = useState(() => (stored === null ? null : readFilter(stored)));
  const [edited, setEdited] = useState<Group | null>(null);
  const stage = fields.find('stage');
  const fresh = useMemo(() => newGroup(stage === undefined ? [] : [newCondition(stage)]), [stage?.field]);
  const group = edited ?? base ?? fresh;
  const typeOf = fields.names.type;
  const found = faults(group, typeOf);
  const written = writeFilter(group, typeOf);
  const text = JSON.stringify(written.filter);
  return {
    group,
    change: setEdited,
    /** The filter as the API takes it; undefined while it is not complete. */
    filter: found.size === 0 && fields.all.length > 0 ? written.filter : undefined,
    text,
    isChanged: edited !== null && text !== JSON.stringify(writeFilter(base ?? fresh, typeOf).filter),
    revert: () => setEdited(null),
    /** Takes what is shown as stored. */
    keep: () => {
      setBase(group);
      setEdited(null);
    },
    /** What is wrong with a part: found here once it is asked for, or by the server in error. */
    errorOf: (id: string, error: unknown, asked: boolean): string | undefined => {
      const fault = found.get(id);
      if (fault !== undefined) return asked || fault === 'number' || fault === 'depth' ? faultText(fault) : undefined;
      if (!isProblem(error)) return undefined;
      return refusedAt(written, error.problem.errors ?? [], id, at);
    },
  };
}

function faultText(fault: Fault): string {
  switch (fault) {
    case 'value':
      return t('faultValue');
    case 'number':
      return t('faultNumber');
    case 'list':
      return t('faultList', { count: limits.list });
    case 'empty':
      return t('faultEmpty');
    case 'depth':
      return t('faultDepth', { count: limits.depth });
    case 'conditions':
      return t('faultConditions', { count: limits.conditions });
  }
}
