import { useMemo } from 'react';
import { useRead } from '@/lib/read';
import { useMembers } from '../record/directory';
import { label } from '../record/label';
import type { FilterField } from './filter';
import { fieldWord, type Names } from './words';

export interface Fields {
  all: readonly FilterField[];
  find: (field: string) => FilterField | undefined;
  names: Names;
  pending: boolean;
  error: unknown;
  again: () => void;
}

/** useFields returns the fields that a segment's filter may name. A segment has no condition on segments. */
export function useFields(): Fields {
  const fields = useRead('/api/v1/crm/filter-fields');
  const custom = useRead('/api/v1/crm/fields', { query: { limit: 200 } });
  const members = useMembers();
  const all = useMemo(() => (fields.data?.data ?? []).filter(({ field }) => field !== 'segment'), [fields.data]);
  const labels = useMemo(() => new Map((custom.data?.data ?? []).map((one) => [one.key, one.label])), [custom.data]);
  const byName = useMemo(() => new Map(all.map((field) => [field.field, field])), [all]);
  const find = (field: string) => byName.get(field);
  return {
    all,
    find,
    names: {
      field: (field) => fieldWord(field, labels),
      type: (field) => find(field)?.type,
      value: (field, value) => {
        if (field === 'stage') return label(value);
        if (field === 'owner_id') return members.nameWithin(value);
        if (find(field)?.type === 'id') return `…${value.slice(-8)}`;
        return find(field)?.type === 'time' ? value.slice(0, 10) : value;
      },
    },
    pending: fields.pending,
    error: fields.error,
    again: fields.again,
  };
}
