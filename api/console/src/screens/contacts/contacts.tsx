import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { formatNumber } from '@/lib/intl';
import { useMay } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button } from '@/ui/button';
import { formatEstimate } from '@/ui/estimate';
import { EmptyState } from '@/ui/feedback';
import { later } from '@/ui/later';
import type { MenuEntry } from '@/ui/menu';
import { PageHead } from '@/ui/page';
import { Table, type Sort, type TableHandle } from '@/ui/table';
import { BulkBar, Gap, Toolbar } from '@/ui/toolbar';
import { toast } from '@/ui/toast';
import { useMembers } from '../record/directory';
import { GoLink } from '../record/golink';
import { label } from '../record/label';
import { ListSearch } from '../record/listsearch';
import type { Contact } from '../record/types';
import { useArchive } from './archive';
import type { BulkKind } from './bulk';
import { columnsOf, type ColumnName } from './columns';
import { Filters } from './filters';
import { t } from './messages';
import { useContacts } from './neighbours';
import { isNarrowed, ofEmails, sorts, toFilter, type ContactSearch, type Filter } from './search';
import { useSaved } from './views';
import { ColumnsMenu, ViewsMenu } from './viewsmenu';
import styles from './contacts.module.css';

// What a click opens is not loaded with the list.
const ContactPanel = later(() => import('./panel').then((m) => m.ContactPanel));
const CreateContact = later(() => import('./create').then((m) => m.CreateContact));
const BulkDialog = later(() => import('./bulk').then((m) => m.BulkDialog));
const EnrolIn = later(() => import('../sequences/enrolin').then((m) => m.EnrolIn));
const BulkProgress = later(() => import('./bulk').then((m) => m.BulkProgress));

/** Contacts is the list of contacts: searched, filtered, sorted, changed many at a time. */
export function Contacts() {
  const search = useSearch({ from: '/app/contacts' });
  const navigate = useNavigate();
  const show = (to: ContactSearch, replace = false) => void navigate({ to: '/app/contacts', search: to, replace });
  const open = (id: string | undefined) => {
    const { open: _, ...rest } = search;
    if (id !== undefined && isPhone()) return void navigate({ to: '/app/contacts/$id', params: { id } });
    show(id === undefined ? rest : { ...rest, open: id }, search.open !== undefined && id !== undefined);
  };
  const list = useContacts(search);
  const members = useMembers();
  const { saved, store } = useSaved();
  const [own, setOwn] = useState<readonly ColumnName[] | null>(null);
  const columns = own ?? saved.columns;
  const may = useMay('member');
  const [creating, setCreating] = useState(false);
  const selection = useSelection(list, search);
  const [bulk, setBulk] = useState<BulkKind | null>(null);
  const [enrolling, setEnrolling] = useState(false);
  const [running, setRunning] = useState<{ id: string; undo?: () => void } | null>(null);
  const table = useRef<TableHandle>(null);
  const archive = useArchive();
  const undoArchive = useUndoArchive((id) => setRunning({ id }));

  useCommands([
    ...(may
      ? [{ id: 'contacts.create', label: t('create'), icon: 'plus' as const, keys: 'c', run: () => setCreating(true) }]
      : []),
    { id: 'contacts.down', label: t('moveDown'), keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'contacts.up', label: t('moveUp'), keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
    { id: 'contacts.select', label: t('select'), keys: 'x', keyOnly: true, run: () => table.current?.toggle() },
    ...(selection.count > 0
      ? [{ id: 'contacts.clear', label: t('clear'), keys: 'esc', keyOnly: true, run: selection.clear }]
      : []),
  ]);

  const actions = (contact: Contact): MenuEntry[] => [
    { label: t('open'), keys: 'enter', onSelect: () => open(contact.id) },
    {
      label: t('openPage'),
      icon: 'external',
      onSelect: () => void navigate({ to: '/app/contacts/$id', params: { id: contact.id } }),
    },
    { label: t('copyEmail'), icon: 'copy', onSelect: () => void navigator.clipboard.writeText(contact.email) },
    ...(may && contact.archived_at === null
      ? [null, { label: t('archive'), icon: 'archive' as const, danger: true, onSelect: () => archive(contact) }]
      : []),
  ];
  const isEmpty = list.complete && list.length === 0;
  const clear = () => show(search.archived ? { archived: true } : {});
  return (
    <div className={styles.page}>
      <PageHead
        title={search.archived ? t('archivedContacts') : t('title')}
        count={list.complete ? formatNumber(list.length) : list.total === null ? undefined : formatEstimate(list.total)}
      >
        {may && !search.archived && (
          <Button kind="primary" size="small" icon="plus" onClick={() => setCreating(true)}>
            {t('create')}
          </Button>
        )}
      </PageHead>
      <Toolbar>
        <ListSearch label={t('search')} value={search.q ?? ''} change={(q) => show(withText(search, q), true)} />
        <Filters search={search} change={(to) => show(to, true)} />
        <Gap />
        <ColumnsMenu
          columns={columns}
          change={(next) => {
            setOwn(next);
            store({ ...saved, columns: next }).catch(report);
          }}
        />
        <ViewsMenu
          search={search}
          columns={columns}
          saved={saved}
          store={store}
          show={(view) => {
            show(view?.search ?? {});
            setOwn(view === null ? null : view.columns);
          }}
        />
      </Toolbar>
      {list.error !== null && list.pending ? (
        <div className={styles.center}>
          <Failure error={list.error} again={() => list.pages.retry()} />
        </div>
      ) : isEmpty ? (
        <div className={styles.center}>
          <Nothing narrowed={isNarrowed(search)} clear={clear} create={may ? () => setCreating(true) : undefined} />
        </div>
      ) : (
        <Table
          key={JSON.stringify({ ...search, open: undefined })}
          ref={table}
          label={t('title')}
          columns={columnsOf(columns, members)}
          rows={list}
          rowKey={(contact) => contact.id}
          href={(contact) => `/app/contacts/${contact.id}`}
          onOpen={(contact) => open(contact.id)}
          current={search.open}
          phone={(contact) => `${label(contact.stage)} · ${contact.email}`}
          {...(may && { selected: selection.keys, onSelect: selection.set })}
          actions={actions}
          sort={sortOf(search)}
          onSort={(sort) => show(withSort(search, sort), true)}
        />
      )}
      {may && (
        <BulkBar
          count={selection.all ? (list.total ?? selection.count) : selection.count}
          {...(toFilter(search) !== null && !selection.all && list.total !== null && { total: list.total })}
          onAll={selection.takeAll}
          onClear={selection.clear}
        >
          <Button kind="quiet" size="small" icon="tag" onClick={() => setBulk('tag')}>
            {t('addTags')}
          </Button>
          <Button kind="quiet" size="small" onClick={() => setBulk('untag')}>
            {t('removeTags')}
          </Button>
          <Button kind="quiet" size="small" onClick={() => setBulk('segment')}>
            {t('setSegment')}
          </Button>
          <Button kind="quiet" size="small" onClick={() => setBulk('stage')}>
            {t('setStage')}
          </Button>
          <Button kind="quiet" size="small" icon="sequences" onClick={() => setEnrolling(true)}>
            {t('enrol')}
          </Button>
          <Button kind="quiet" size="small" icon="user" onClick={() => setBulk('owner')}>
            {t('setOwner')}
          </Button>
          {!search.archived && (
            <Button kind="quiet" size="small" icon="archive" onClick={() => setBulk('archive')}>
              {t('archive')}
            </Button>
          )}
        </BulkBar>
      )}
      {search.open !== undefined && <ContactPanel key="panel" id={search.open} list={list} open={open} />}
      {creating && <CreateContact onClose={() => setCreating(false)} onOpen={open} />}
      {bulk !== null && (
        <BulkDialog
          kind={bulk}
          filter={selection.filter}
          onClose={() => setBulk(null)}
          onBegun={(id) => {
            const { filter, all } = selection;
            setRunning({ id, ...(bulk === 'archive' && !all && { undo: () => undoArchive(filter) }) });
            selection.clear();
          }}
        />
      )}
      {enrolling && (
        <EnrolIn
          selected={{
            body: selection.all ? { filter: { ...selection.filter } } : { contact_ids: [...selection.keys] },
            count: selection.all ? (list.total ?? selection.count) : selection.count,
          }}
          onClose={() => setEnrolling(false)}
        />
      )}
      {running !== null && (
        <BulkProgress key={running.id} id={running.id} undo={running.undo} onOver={() => setRunning(null)} />
      )}
    </div>
  );
}

function Nothing({ narrowed, clear, create }: {
  narrowed: boolean;
  clear: () => void;
  create: (() => void) | undefined;
}) {
  if (narrowed) {
    return (
      <EmptyState icon="search" title={t('noneFound')} action={<Button onClick={clear}>{t('clear')}</Button>}>
        {t('noneFoundHelp')}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="contacts"
      title={t('empty')}
      guide={{ label: t('guide'), href: '/docs' }}
      {...(create && {
        action: (
          <>
            <Button kind="primary" onClick={create}>
              {t('create')}
            </Button>
            <GoLink href="/app/imports">{t('import')}</GoLink>
          </>
        ),
      })}
    >
      {create ? t('emptyHelp') : t('viewerHelp')}
    </EmptyState>
  );
}

/** The selected contacts: some rows, with their addresses, or everything that the list shows. */
function useSelection(list: ReturnType<typeof useContacts>, search: ContactSearch) {
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map());
  const [all, setAll] = useState(false);
  const { open: _, ...shown } = search;
  const text = JSON.stringify(shown);
  useEffect(() => {
    setChosen(new Map());
    setAll(false);
  }, [text]);
  const set = (keys: Set<string>) => {
    const next = new Map<string, string>();
    for (const key of keys) {
      const email = chosen.get(key);
      if (email !== undefined) next.set(key, email);
    }
    for (let at = 0; at < list.length && next.size < keys.size; at++) {
      const row = list.row(at);
      if (row !== undefined && keys.has(row.id)) next.set(row.id, row.email);
    }
    setChosen(next);
    setAll(false);
  };
  const whole = all ? toFilter(search) : null;
  const [filter, setFilter] = useState<Filter>({ all: [] });
  useEffect(() => setFilter(whole ?? ofEmails([...chosen.values()])), [chosen, all]);
  return {
    keys: new Set(chosen.keys()),
    count: chosen.size,
    all,
    filter,
    set,
    takeAll: () => setAll(true),
    clear: () => {
      setChosen(new Map());
      setAll(false);
    },
  };
}

/** Restores what a bulk change archived. */
function useUndoArchive(begun: (id: string) => void): (filter: Filter) => void {
  const api = useApi();
  return (filter) => {
    api
      .post('/api/v1/crm/contacts/bulk', {
        body: { filter, action: { type: 'restore' } },
        idempotencyKey: crypto.randomUUID(),
      })
      .then(({ data }) => begun(data.id))
      .catch(report);
  };
}

function report(error: unknown): void {
  const { title, detail, request_id } = describe(error) ?? { title: '', detail: '', request_id: undefined };
  toast({ kind: 'bad', title, detail, ...(request_id !== undefined && { requestId: request_id }) });
}

function withText({ q: _, ...search }: ContactSearch, text: string): ContactSearch {
  return text === '' ? search : { ...search, q: text };
}

function sortOf({ sort = '-created_at' }: ContactSearch): Sort {
  return { by: sort.replace(/^-/, ''), descending: sort.startsWith('-') };
}

function withSort({ sort: _, ...search }: ContactSearch, { by, descending }: Sort): ContactSearch {
  const sort = sorts.find((one) => one === (descending ? `-${by}` : by)) ?? sorts.find((one) => one === by);
  return sort === undefined || sort === '-created_at' ? search : { ...search, sort };
}

const isPhone = () => matchMedia('(max-width: 599px)').matches;
