import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import type { Target } from '@/lib/operations';
import { randomId } from '@/lib/random';
import { invalidate, useList, useRead, type Row } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Avatar } from '@/ui/avatar';
import { Button } from '@/ui/button';
import { Segments } from '@/ui/choice';
import { Callout, EmptyState } from '@/ui/feedback';
import { later } from '@/ui/later';
import { PageHead } from '@/ui/page';
import { Badge } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { Gap, Toolbar } from '@/ui/toolbar';
import { report } from '../record/report';
import { nameOf } from '../record/types';
import { Merges } from './merges';
import { t } from './messages';
import styles from './duplicates.module.css';

const path = '/api/v1/crm/contacts/duplicates';
const Compare = later(() => import('./compare').then((m) => m.Compare));

export type Group = Row<typeof path>;
type Query = NonNullable<NonNullable<Target<typeof path>>['query']>;
type Reason = NonNullable<Query['reason']>;

const searchPause = 2000; // milliseconds between two reads while a search is under way

/** Duplicates has the contacts that may be one person, and the merges. */
export function Duplicates() {
  const { show } = useSearch({ from: '/app/duplicates' });
  const navigate = useNavigate();
  const may = useMay('member');
  const api = useApi();
  const scope = useScope();
  const [reason, setReason] = useState<Reason | 'all'>('all');
  const state = useRead(path, { query: { limit: 1 } });
  const { asked_at, completed_at } = state.data ?? { asked_at: null, completed_at: null };
  const isSearching = asked_at !== null && (completed_at === null || completed_at < asked_at);
  useEffect(() => {
    if (!isSearching) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') invalidate(scope, path);
    }, searchPause);
    return () => clearInterval(timer);
  }, [isSearching, scope]);
  const search = async () => {
    try {
      await api.post(`${path}/search`, { idempotencyKey: randomId() });
      toast({ title: t('searchBegun') });
    } catch (error) {
      report(t('searchFailed'), error);
    }
    invalidate(scope, path);
  };
  useCommands(
    may ? [{ id: 'duplicates.search', label: t('search'), icon: 'search', keys: 'r', run: () => void search() }] : [],
  );
  const isMerged = show === 'merged';
  const button = (
    <Button kind="primary" size="small" icon="search" busy={isSearching} onClick={() => void search()}>
      {t('search')}
    </Button>
  );
  const isNew = state.data !== undefined && asked_at === null;
  return (
    <div className={styles.page}>
      <PageHead title={t('title')}>{may && !isMerged && !isNew && button}</PageHead>
      <Toolbar>
        <Segments
          label={t('which')}
          value={isMerged ? 'merged' : 'found'}
          onChange={(to) =>
            void navigate({ to: '/app/duplicates', search: to === 'merged' ? { show: to } : {}, replace: true })
          }
          options={[
            { value: 'found', label: t('found') },
            { value: 'merged', label: t('merged') },
          ]}
        />
        {!isMerged && !isNew && (
          <>
            <Segments
              label={t('reason')}
              value={reason}
              onChange={setReason}
              options={[
                { value: 'all', label: t('all') },
                { value: 'email', label: t('email') },
                { value: 'phone', label: t('phone') },
                { value: 'name_company', label: t('name_company') },
              ]}
            />
            <Gap />
            {completed_at !== null && (
              <span className="meta">
                {t('searchedAt')} <Time at={completed_at} />
              </span>
            )}
          </>
        )}
      </Toolbar>
      {isMerged ? (
        <Merges />
      ) : state.error !== null && state.data === undefined ? (
        <Failure error={state.error} again={state.again} />
      ) : isNew ? (
        <div className={styles.center}>
          <EmptyState
            icon="contacts"
            title={t('never')}
            action={may ? button : undefined}
            guide={{ label: t('guide'), href: '/docs/guides/segments' }}
          >
            {may ? t('neverText') : t('viewerText')}
          </EmptyState>
        </div>
      ) : (
        <Found reason={reason} isSearching={isSearching} />
      )}
    </div>
  );
}

function Found({ reason, isSearching }: { reason: Reason | 'all'; isSearching: boolean }) {
  const list = useList(path, { query: reason === 'all' ? {} : { reason } });
  const may = useMay('member');
  const table = useRef<TableHandle>(null);
  const [comparing, setComparing] = useState<Group | null>(null);
  useCommands([
    { id: 'duplicates.down', label: t('next'), keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'duplicates.up', label: t('previous'), keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  if (list.error !== null && list.pending) return <Failure error={list.error} again={() => list.pages.retry()} />;
  if (list.complete && list.length === 0) {
    return (
      <div className={styles.center}>
        {isSearching ? (
          <Callout tone="busy">{t('searching')}</Callout>
        ) : (
          <EmptyState icon="check" title={t('none')} guide={{ label: t('guide'), href: '/docs/guides/segments' }}>
            {t('noneText')}
          </EmptyState>
        )}
      </div>
    );
  }
  const columns: readonly Column<Group>[] = [
    { key: 'who', title: t('found'), cell: (group) => <Names group={group} /> },
    { key: 'reason', title: t('reason'), width: 188, wide: true, cell: (group) => <Badge>{t(group.reason)}</Badge> },
    {
      key: 'compare',
      title: t('compare'),
      width: 108,
      cell: (group) =>
        may && (
          <Button size="small" aria-label={t('compareOf', { names: namesOf(group) })} onClick={() => setComparing(group)}>
            {t('compare')}
          </Button>
        ),
    },
  ];
  return (
    <>
      <Table
        ref={table}
        label={t('title')}
        columns={columns}
        rows={list}
        rowKey={(group) => `${group.reason}:${group.contacts.map(({ id }) => id).join()}`}
        {...(may && { onOpen: setComparing })}
        phone={(group) => t(group.reason)}
        loading={list.pending}
        twoLines
      />
      {comparing !== null && <Compare group={comparing} onClose={() => setComparing(null)} />}
    </>
  );
}

const namesShown = 2;

function Names({ group }: { group: Group }) {
  const rest = group.contacts.length - namesShown;
  return (
    <span className={styles.names}>
      {group.contacts.slice(0, namesShown).map((contact) => (
        <span key={contact.id} className={styles.person}>
          <Avatar name={nameOf(contact)} />
          <span className={styles.two}>
            <span className={styles.cut}>{nameOf(contact)}</span>
            <span className={styles.second}>{contact.email}</span>
          </span>
        </span>
      ))}
      {rest > 0 && <span className="meta num">{t('more', { count: rest })}</span>}
    </span>
  );
}

function namesOf(group: Group): string {
  return group.contacts.map(nameOf).join(', ');
}
