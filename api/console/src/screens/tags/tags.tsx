import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { formatNumber } from '@/lib/intl';
import { useList, type Row } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { buttonLook } from '@/ui/button';
import { ConfirmDialog } from '@/ui/dialog';
import { EmptyState } from '@/ui/feedback';
import type { MenuEntry } from '@/ui/menu';
import { PageHead } from '@/ui/page';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { BulkProgress } from '../contacts/bulk';
import { GoLink } from '../record/golink';
import { t } from './messages';
import { RenameTag } from './rename';
import styles from './tags.module.css';

export type Tag = Row<'/api/v1/crm/tags'>;

const columns: readonly Column<Tag>[] = [
  { key: 'tag', title: t('tag'), cell: (tag) => tag.name },
  { key: 'count', title: t('count'), width: 128, end: true, wide: true, cell: countOf },
];

function countOf({ contacts, more }: Tag): string {
  return more ? t('over', { count: contacts }) : formatNumber(contacts);
}

type Act = { kind: 'rename' | 'remove'; tag: Tag };

/** Tags lists the tags of contacts. Renaming and removing one is a bulk change, whose progress is shown. */
export function Tags() {
  const list = useList('/api/v1/crm/tags', { query: { count: 'exact' } });
  const navigate = useNavigate();
  const may = useMay('member');
  const { org, role } = useScope();
  const table = useRef<TableHandle>(null);
  const [act, setAct] = useState<Act | null>(null);
  const [running, setRunning] = useState<string | null>(null);
  const close = () => setAct(null);
  useCommands([
    { id: 'tags.down', label: t('next'), keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'tags.up', label: t('previous'), keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  const show = (tag: Tag) => void navigate({ to: '/app/contacts', search: { tag: tag.name } });
  const actions = (tag: Tag): MenuEntry[] => [
    { label: t('show'), icon: 'contacts', onSelect: () => show(tag) },
    ...(may
      ? [
          { label: t('rename'), icon: 'edit' as const, onSelect: () => setAct({ kind: 'rename', tag }) },
          null,
          { label: t('remove'), icon: 'trash' as const, danger: true, onSelect: () => setAct({ kind: 'remove', tag }) },
        ]
      : []),
  ];
  const isEmpty = list.complete && list.length === 0;
  return (
    <>
      <PageHead title={t('title')} count={list.total === null || isEmpty ? undefined : formatNumber(list.total)} />
      {!may && <p className={styles.note}>{t('members', { org: org.name, role })}</p>}
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : isEmpty ? (
        <EmptyState
          icon="tag"
          title={t('empty')}
          action={
            <GoLink href="/app/contacts" className={buttonLook({ kind: 'primary' })}>
              {t('contacts')}
            </GoLink>
          }
          guide={{ label: t('guide'), href: '/docs/guides/segments' }}
        >
          {t('emptyText')}
        </EmptyState>
      ) : (
        <Table
          ref={table}
          label={t('title')}
          columns={columns}
          rows={list}
          rowKey={(tag) => tag.name}
          onOpen={show}
          actions={actions}
          phone={(tag) => (tag.more ? countOf(tag) : t('countOf', { count: tag.contacts }))}
          loading={list.pending}
        />
      )}
      {act?.kind === 'rename' && <RenameTag tag={act.tag} onClose={close} onBegun={setRunning} />}
      {act?.kind === 'remove' && <RemoveTag tag={act.tag} onClose={close} onBegun={setRunning} />}
      {running !== null && <BulkProgress key={running} id={running} onOver={() => setRunning(null)} />}
    </>
  );
}

function RemoveTag({ tag, onClose, onBegun }: { tag: Tag; onClose: () => void; onBegun: (id: string) => void }) {
  const api = useApi();
  const remove = useSubmit(
    (name: string) => api.delete('/api/v1/crm/tags/{tag}', { path: { tag: name } }),
    ({ data }) => {
      onBegun(data.id);
      onClose();
    },
  );
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t('removeTitle', { name: tag.name })}
      consequence={
        <>
          <p>{t('removeText')}</p>
          {remove.error !== null && <p role="alert">{describe(remove.error)?.detail}</p>}
        </>
      }
      action={t('removeTag')}
      type={tag.name}
      busy={remove.busy}
      onConfirm={() => void remove.submit(tag.name)}
    />
  );
}
