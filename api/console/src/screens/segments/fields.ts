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

/** What a filter may name beside the fields of contacts. */
export interface MoreFields {
  /** Segments; a segment itself has no condition on segments. */
  segments?: boolean;
  /** Fields of one kind of filter, such as what became of the mails of a sequence. */
  own?: readonly (FilterField & { label: string })[];
}

const noFields: readonly never[] = [];

/** useFields returns the fields that a filter may name: of a segment, or with more of another filter. */
export function useFields({ segments = false, own = noFields }: MoreFields = {}): Fields {
  const fields = useRead('/api/v1/crm/filter-fields');
  const custom = useRead('/api/v1/crm/fields', { query: { limit: 200 } });
  const members = useMembers();
  const all = useMemo(
    () => [...own, ...(fields.data?.data ?? []).filter(({ field }) => segments || field !== 'segment')],
    [fields.data, own, segments],
  );
  const labels = useMemo(() => new Map((custom.data?.data ?? []).map((one) => [one.key, one.label])), [custom.data]);
  const ownLabels = useMemo(() => new Map(own.map((one) => [one.field, one.label])), [own]);
  const byName = useMemo(() => new Map(all.map((field) => [field.field, field])), [all]);
  const find = (field: string) => byName.get(field);
  return {
    all,
    find,
    names: {
      field: (field) => ownLabels.get(field) ?? fieldWord(field, labels),
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
