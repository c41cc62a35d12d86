import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { formatDay } from '@/lib/intl';
import { useList, useRead, type Row } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { ConfirmDialog } from '@/ui/dialog';
import { EmptyState, Skeleton } from '@/ui/feedback';
import type { MenuEntry } from '@/ui/menu';
import { Status } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { nameOf } from '../record/types';
import { t } from './messages';
import { useUnmerge } from './unmerge';
import styles from './duplicates.module.css';

type MergeRow = Row<'/api/v1/crm/merges'>;

/** Merges is the list of merges, each of which can be undone for a time. */
export function Merges() {
  const list = useList('/api/v1/crm/merges', { query: {} });
  const navigate = useNavigate();
  const may = useMay('member');
  const unmerge = useUnmerge();
  const table = useRef<TableHandle>(null);
  const [asking, setAsking] = useState<MergeRow | null>(null);
  useCommands([
    { id: 'merges.down', label: t('next'), keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'merges.up', label: t('previous'), keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  if (list.error !== null && list.pending) return <Failure error={list.error} again={() => list.pages.retry()} />;
  if (list.complete && list.length === 0) {
    return (
      <div className={styles.center}>
        <EmptyState icon="contacts" title={t('noMerges')} guide={{ label: t('guide'), href: '/docs/guides/segments' }}>
          {t('noMergesText')}
        </EmptyState>
      </div>
    );
  }
  const open = (merge: MergeRow) => void navigate({ to: '/app/contacts/$id', params: { id: merge.survivor_id } });
  const actions = (merge: MergeRow): MenuEntry[] => [
    { label: t('open'), keys: 'enter', onSelect: () => open(merge) },
    ...(may && isUndoable(merge)
      ? [null, { label: t('unmerge'), icon: 'undo' as const, onSelect: () => setAsking(merge) }]
      : []),
  ];
  return (
    <>
      <Table
        ref={table}
        label={t('merged')}
        columns={columns}
        rows={list}
        rowKey={(merge) => merge.id}
        onOpen={open}
        actions={actions}
        phone={(merge) => t('groupOf', { count: merge.loser_ids.length + 1 })}
        loading={list.pending}
      />
      {asking !== null && (
        <Unmerge
          merge={asking}
          onClose={() => setAsking(null)}
          onConfirm={() => {
            void unmerge(asking.id);
            setAsking(null);
          }}
        />
      )}
    </>
  );
}

const columns: readonly Column<MergeRow>[] = [
  { key: 'into', title: t('into'), cell: (merge) => <Name id={merge.survivor_id} /> },
  { key: 'count', title: t('count'), width: 96, wide: true, cell: (merge) => merge.loser_ids.length + 1 },
  {
    key: 'state',
    title: t('state'),
    width: 208,
    wide: true,
    cell: (merge) =>
      merge.undone_at !== null ? (
        <Status tone="off">{t('undone')}</Status>
      ) : isUndoable(merge) && merge.undo_until !== null ? (
        <Status tone="good">{t('undoable', { date: formatDay(merge.undo_until) })}</Status>
      ) : (
        <Status tone="off">{t('final')}</Status>
      ),
  },
  { key: 'when', title: t('when'), width: 112, end: true, wide: true, cell: (merge) => <Time at={merge.created_at} /> },
];

function isUndoable({ undone_at, undo_until }: MergeRow): boolean {
  return undone_at === null && undo_until !== null && Date.parse(undo_until) > Date.now();
}

function useName(id: string): string | null {
  const contact = useRead('/api/v1/crm/contacts/{id}', { path: { id }, query: { include_archived: true } });
  if (contact.data !== undefined) return nameOf(contact.data);
  return contact.error === null ? null : `…${id.slice(-8)}`;
}

function Name({ id }: { id: string }) {
  return <>{useName(id) ?? <Skeleton width="50%" />}</>;
}

function Unmerge({ merge, onClose, onConfirm }: { merge: MergeRow; onClose: () => void; onConfirm: () => void }) {
  const name = useName(merge.survivor_id) ?? '';
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t('unmergeTitle')}
      consequence={t('unmergeText', { name })}
      action={t('unmerge')}
      onConfirm={onConfirm}
    />
  );
}
