import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { formatNumber } from '@/lib/intl';
import { useList } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { Select } from '@/ui/select';
import { Status } from '@/ui/status';
import type { Column } from '@/ui/table';
import { Time } from '@/ui/time';
import { ListScreen } from '../list/listscreen';
import { CreateSequence } from './create';
import { t } from './messages';
import type { Sequence } from './steps';
import { openCount, sequenceStatus } from './words';

const columns: readonly Column<Sequence>[] = [
  { key: 'name', title: t('name'), cell: (one) => one.name },
  {
    key: 'status',
    title: t('status'),
    width: 120,
    cell: (one) => <Status tone={sequenceStatus(one).tone}>{sequenceStatus(one).word}</Status>,
  },
  { key: 'open', title: t('openCount'), width: 88, end: true, wide: true, cell: (one) => formatNumber(openCount(one.counts)) },
  {
    key: 'replied',
    title: t('replied'),
    width: 88,
    end: true,
    wide: true,
    cell: (one) => formatNumber(one.counts['replied'] ?? 0),
  },
  {
    key: 'finished',
    title: t('finished'),
    width: 88,
    end: true,
    wide: true,
    cell: (one) => formatNumber(one.counts['finished'] ?? 0),
  },
  { key: 'changed', title: t('changed'), width: 120, end: true, wide: true, cell: (one) => <Time at={one.updated_at} /> },
];

const filters = [
  { value: 'all', label: t('all') },
  { value: 'active', label: t('active') },
  { value: 'draft', label: t('draft') },
  { value: 'paused', label: t('paused') },
  { value: 'archived', label: t('archived') },
] as const;

/** Sequences lists the org's sequences. */
export function Sequences() {
  const { status } = useSearch({ from: '/app/sequences' });
  const list = useList('/api/v1/sequences', {
    query: { count: 'exact', ...(status !== undefined && { status }) },
  });
  const { org, role } = useScope();
  const mayEdit = useMay('member');
  const navigate = useNavigate();
  const [creating, setCreating] = useState(false);
  const open = (one: Pick<Sequence, 'id'>) => void navigate({ to: '/app/sequences/$id', params: { id: one.id } });
  const choose = (value: (typeof filters)[number]['value']) =>
    void navigate({ to: '/app/sequences', search: value === 'all' ? {} : { status: value } });
  return (
    <ListScreen
      name="sequences"
      title={t('title')}
      one="sequence"
      list={list}
      columns={columns}
      href={(one) => `/app/sequences/${one.id}`}
      onOpen={open}
      phone={(one) => `${t('openCount')} ${formatNumber(openCount(one.counts))}`}
      {...(mayEdit
        ? { create: { label: t('newSequence'), command: t('create'), run: () => setCreating(true) } }
        : { note: t('mayNot', { org: org.name, role }) })}
      filter={
        <span>
          <Select label={t('status')} size="small" value={status ?? 'all'} options={filters} onChange={choose} />
        </span>
      }
      filtered={
        status === undefined
          ? undefined
          : { title: t('noneMatch'), action: t('clearFilter'), clear: () => choose('all') }
      }
      empty={{
        icon: 'sequences',
        title: t('empty'),
        text: t('emptyText'),
        guide: { label: t('guide'), href: '/docs/guides/sequences' },
      }}
    >
      {creating && <CreateSequence onClose={() => setCreating(false)} onCreated={open} />}
    </ListScreen>
  );
}
