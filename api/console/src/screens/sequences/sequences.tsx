import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { formatNumber } from '@/lib/intl';
import { useList } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/feedback';
import { PageHead } from '@/ui/page';
import { Select } from '@/ui/select';
import { Status } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { Toolbar } from '@/ui/toolbar';
import styles from '../mail/mail.module.css';
import { CreateSequence } from './create';
import { t } from './messages';
import type { Sequence } from './steps';
import { openCount, statusTones } from './words';

const columns: readonly Column<Sequence>[] = [
  { key: 'name', title: t('name'), cell: (one) => one.name },
  {
    key: 'status',
    title: t('status'),
    width: 120,
    cell: (one) => <Status tone={statusTones[one.status]}>{t(one.status)}</Status>,
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
  const table = useRef<TableHandle>(null);
  const [creating, setCreating] = useState(false);
  const open = (one: Pick<Sequence, 'id'>) => void navigate({ to: '/app/sequences/$id', params: { id: one.id } });
  useCommands([
    { id: 'sequences.down', label: 'Next sequence', keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'sequences.up', label: 'Previous sequence', keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
    ...(mayEdit
      ? [{ id: 'sequences.create', label: t('create'), icon: 'plus' as const, keys: 'c', run: () => setCreating(true) }]
      : []),
  ]);
  const button = (
    <Button kind="primary" size="small" icon="plus" onClick={() => setCreating(true)}>
      {t('newSequence')}
    </Button>
  );
  const isEmpty = list.complete && list.length === 0;
  const isFirst = isEmpty && status === undefined;
  return (
    <>
      <PageHead title={t('title')} count={list.total ?? undefined}>
        {mayEdit && !isFirst && button}
      </PageHead>
      {!mayEdit && <p className={styles.note}>{t('mayNot', { org: org.name, role })}</p>}
      {!isFirst && (
        <Toolbar>
          <span>
            <Select
              label={t('status')}
              size="small"
              value={status ?? 'all'}
              options={filters}
              onChange={(next) =>
                void navigate({ to: '/app/sequences', search: next === 'all' ? {} : { status: next } })
              }
            />
          </span>
        </Toolbar>
      )}
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : isFirst ? (
        <EmptyState
          icon="sequences"
          title={t('empty')}
          action={mayEdit ? button : undefined}
          guide={{ label: t('guide'), href: '/docs/guides/sequences' }}
        >
          {t('emptyText')}
        </EmptyState>
      ) : isEmpty ? (
        <EmptyState
          icon="filter"
          title={t('noneMatch')}
          action={<Button onClick={() => void navigate({ to: '/app/sequences' })}>{t('clearFilter')}</Button>}
        />
      ) : (
        <Table
          ref={table}
          label={t('title')}
          columns={columns}
          rows={list}
          rowKey={(one) => one.id}
          href={(one) => `/app/sequences/${one.id}`}
          onOpen={open}
          phone={(one) => `${t('openCount')} ${formatNumber(openCount(one.counts))}`}
          loading={list.pending}
        />
      )}
      {creating && <CreateSequence onClose={() => setCreating(false)} onCreated={open} />}
    </>
  );
}
