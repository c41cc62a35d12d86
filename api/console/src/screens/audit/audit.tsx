import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Failure } from '@/app/failure';
import { useList } from '@/lib/read';
import { Avatar } from '@/ui/avatar';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/feedback';
import { Icon } from '@/ui/icon';
import { PageHead } from '@/ui/page';
import { Table, type Column } from '@/ui/table';
import { Time } from '@/ui/time';
import { EntryPanel } from './entry';
import { Filters } from './filters';
import { actionName, t, targetName } from './messages';
import { type Entry, usePeople } from './people';
import type { AuditSearch } from './routes';
import styles from './audit.module.css';

/** Audit lists who did what to members, keys, roles, secrets and plans, newest first. */
export function Audit() {
  const search = useSearch({ from: '/app/settings/audit' });
  const navigate = useNavigate({ from: '/app/settings/audit' });
  const people = usePeople();
  const [open, setOpen] = useState<{ entry: Entry; index: number } | null>(null);
  const entries = useList('/api/v1/audit-log', {
    query: {
      ...(search.actor && { actor_id: search.actor }),
      ...(search.action && { action: search.action }),
      ...(search.target && { target_id: search.target }),
      ...(search.after && { created_after: search.after }),
      ...(search.before && { created_before: search.before }),
    },
  });
  const set = (next: AuditSearch) => void navigate({ search: next, replace: true });
  const at = (index: number) => {
    const entry = index < 0 ? undefined : entries.row(index);
    return entry && (() => setOpen({ entry, index }));
  };
  const columns: Column<Entry>[] = [
    { key: 'action', title: t('action'), cell: (entry) => actionName(entry.action) },
    { key: 'actor', title: t('actor'), width: 200, wide: true, cell: (entry) => <Actor entry={entry} name={people.nameOf(entry.actor)} /> },
    { key: 'target', title: t('target'), width: 160, wide: true, cell: (entry) => <TargetName entry={entry} name={people.find(entry.target.id)} /> },
    { key: 'time', title: t('time'), width: 112, end: true, cell: (entry) => <Time at={entry.created_at} /> },
  ];
  const isFiltered = Object.keys(search).length > 0;
  const isEmpty = !entries.pending && entries.error === null && entries.length === 0;
  return (
    <div className={styles.page}>
      <PageHead title={t('title')} />
      <Filters search={search} people={people} onChange={set} />
      {entries.error !== null && entries.length === 0 ? (
        <Failure error={entries.error} again={() => entries.pages.retry()} />
      ) : isEmpty ? (
        <EmptyState
          icon="clock"
          title={t(isFiltered ? 'noneTitle' : 'emptyTitle')}
          {...(isFiltered
            ? { action: <Button onClick={() => set({})}>{t('clear')}</Button> }
            : { guide: { label: t('guide'), href: '/docs/guides/members' } })}
        >
          {t(isFiltered ? 'none' : 'empty')}
        </EmptyState>
      ) : (
        <Table
          label={t('title')}
          columns={columns}
          rows={entries}
          rowKey={(entry) => entry.id}
          loading={entries.pending}
          current={open?.entry.id}
          phone={(entry) => people.nameOf(entry.actor)}
          onOpen={(entry) => setOpen({ entry, index: indexOf(entries, entry) })}
        />
      )}
      {open && (
        <EntryPanel
          entry={open.entry}
          people={people}
          onClose={() => setOpen(null)}
          onPrevious={at(open.index - 1)}
          onNext={at(open.index + 1)}
          onFilter={set}
        />
      )}
    </div>
  );
}

function indexOf(entries: { length: number; row: (index: number) => Entry | undefined }, entry: Entry): number {
  for (let i = 0; i < entries.length; i++) if (entries.row(i)?.id === entry.id) return i;
  return -1;
}

function Actor({ entry, name }: { entry: Entry; name: string }) {
  return (
    <span className={styles.actor}>
      {entry.actor.type === 'user' ? <Avatar name={name} /> : <Icon name={entry.actor.type === 'api_key' ? 'key' : 'bolt'} />}
      <span className={styles.cut}>{name}</span>
    </span>
  );
}

function TargetName({ entry, name }: { entry: Entry; name: string | undefined }) {
  return <span className={styles.target}>{name ?? targetName(entry.target.type)}</span>;
}
