import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { formatNumber } from '@/lib/intl';
import type { List } from '@/lib/read';
import { useRead } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { Avatar } from '@/ui/avatar';
import { Button } from '@/ui/button';
import { formatEstimate } from '@/ui/estimate';
import { EmptyState, Skeleton } from '@/ui/feedback';
import { Menu, type MenuEntry } from '@/ui/menu';
import { PageHead } from '@/ui/page';
import { SidePanel } from '@/ui/sidepanel';
import { Table, type Column, type Sort, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { Chip, Gap, Toolbar } from '@/ui/toolbar';
import { useMembers, type Members } from '../record/directory';
import { ListSearch } from '../record/listsearch';
import { neighboursOf } from '../record/neighbours';
import type { Company } from '../record/types';
import { CompanyActions, CompanySide, CompanyStory, useArchive } from './company';
import { CreateCompany } from './create';
import { companyTarget } from './facts';
import { t } from './messages';
import { useCompanies } from './neighbours';
import { sorts, type CompanySearch } from './search';
import styles from '../contacts/contacts.module.css';

/** Companies is the list of companies. */
export function Companies() {
  const search = useSearch({ from: '/app/companies' });
  const navigate = useNavigate();
  const show = (to: CompanySearch, replace = false) => void navigate({ to: '/app/companies', search: to, replace });
  const open = (id: string | undefined) => {
    const { open: _, ...rest } = search;
    if (id !== undefined && isPhone()) return void navigate({ to: '/app/companies/$id', params: { id } });
    show(id === undefined ? rest : { ...rest, open: id }, search.open !== undefined && id !== undefined);
  };
  const list = useCompanies(search);
  const members = useMembers();
  const may = useMay('member');
  const archive = useArchive();
  const [creating, setCreating] = useState(false);
  const table = useRef<TableHandle>(null);
  useCommands([
    ...(may
      ? [{ id: 'companies.create', label: t('create'), icon: 'plus' as const, keys: 'c', run: () => setCreating(true) }]
      : []),
    { id: 'companies.down', label: t('moveDown'), keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'companies.up', label: t('moveUp'), keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  const actions = (company: Company): MenuEntry[] => [
    { label: t('open'), keys: 'enter', onSelect: () => open(company.id) },
    {
      label: t('openPage'),
      icon: 'external',
      onSelect: () => void navigate({ to: '/app/companies/$id', params: { id: company.id } }),
    },
    ...(may && company.archived_at === null
      ? [null, { label: t('archive'), icon: 'archive' as const, danger: true, onSelect: () => archive(company) }]
      : []),
  ];
  return (
    <div className={styles.page}>
      <PageHead
        title={search.archived ? t('archivedCompanies') : t('title')}
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
        <OwnerFilter search={search} members={members} show={(to) => show(to, true)} />
        <Gap />
        <Menu
          align="end"
          trigger={
            <Button kind="quiet" size="small" icon="eye" after="down">
              {t('show')}
            </Button>
          }
          items={[
            { label: t('all'), checked: !search.archived, onSelect: () => show({}) },
            { label: t('archivedCompanies'), checked: search.archived === true, onSelect: () => show({ archived: true }) },
          ]}
        />
      </Toolbar>
      {list.error !== null && list.pending ? (
        <div className={styles.center}>
          <Failure error={list.error} again={() => list.pages.retry()} />
        </div>
      ) : list.complete && list.length === 0 ? (
        <div className={styles.center}>
          <Nothing
            narrowed={search.q !== undefined || search.owner !== undefined}
            clear={() => show({})}
            create={may ? () => setCreating(true) : undefined}
          />
        </div>
      ) : (
        <Table
          key={JSON.stringify({ ...search, open: undefined })}
          ref={table}
          label={t('title')}
          columns={columnsOf(members)}
          rows={list}
          rowKey={(company) => company.id}
          href={(company) => `/app/companies/${company.id}`}
          onOpen={(company) => open(company.id)}
          current={search.open}
          phone={(company) => [company.industry, company.domain].filter(Boolean).join(' · ')}
          actions={actions}
          sort={sortOf(search)}
          onSort={(sort) => show(withSort(search, sort), true)}
        />
      )}
      {search.open !== undefined && <CompanyPanel id={search.open} list={list} open={open} />}
      {creating && <CreateCompany onClose={() => setCreating(false)} onOpen={open} />}
    </div>
  );
}

function columnsOf(members: Members): Column<Company>[] {
  return [
    {
      key: 'name',
      title: t('name'),
      sort: 'name',
      cell: (company) => (
        <span className={styles.person}>
          <Avatar name={company.name} square />
          <span className={styles.cut}>{company.name}</span>
        </span>
      ),
    },
    { key: 'domain', title: t('domain'), wide: true, cell: (c) => <span className={styles.soft}>{c.domain}</span> },
    { key: 'industry', title: t('industry'), width: '18%', wide: true, cell: (c) => c.industry },
    { key: 'size', title: t('size'), width: 96, wide: true, cell: (c) => c.size },
    { key: 'owner', title: t('owner'), width: 132, wide: true, cell: (c) => c.owner_id && members.nameOf(c.owner_id) },
    {
      key: 'added',
      title: t('added'),
      sort: 'created_at',
      width: 112,
      wide: true,
      end: true,
      cell: (c) => <Time at={c.created_at} />,
    },
  ];
}

/** The list by owner: a menu while it is not filtered, then a chip whose menu changes it. */
function OwnerFilter({ search, members, show }: {
  search: CompanySearch;
  members: Members;
  show: (to: CompanySearch) => void;
}) {
  const { owner, ...rest } = search;
  return (
    <Menu
      trigger={
        owner === undefined ? (
          <Button kind="quiet" size="small" icon="filter">
            {t('owner')}
          </Button>
        ) : (
          <Chip name={t('owner')} value={members.nameOf(owner)} onRemove={() => show(rest)} />
        )
      }
      items={members.options.map(({ value, label }) => ({
        label,
        checked: value === owner,
        onSelect: () => show({ ...rest, owner: value }),
      }))}
    />
  );
}

function CompanyPanel({ id, list, open }: {
  id: string;
  list: List<Company>;
  open: (id: string | undefined) => void;
}) {
  const company = useRead('/api/v1/crm/companies/{id}', companyTarget(id));
  const navigate = useNavigate();
  const { previous, next } = neighboursOf(list, id);
  const goTo = (to: Company | undefined) => (to === undefined ? undefined : () => open(to.id));
  useCommands([
    { id: 'company.close', label: t('close'), keys: 'esc', keyOnly: true, run: () => open(undefined) },
    { id: 'company.previous', label: t('previous'), keys: '[', keyOnly: true, run: () => goTo(previous)?.() },
    { id: 'company.next', label: t('next'), keys: ']', keyOnly: true, run: () => goTo(next)?.() },
  ]);
  return (
    <SidePanel
      title={company.data?.name ?? t('title')}
      onClose={() => open(undefined)}
      onExpand={() => void navigate({ to: '/app/companies/$id', params: { id } })}
      onPrevious={goTo(previous)}
      onNext={goTo(next)}
      actions={company.data && <CompanyActions company={company.data} />}
    >
      {company.answer !== undefined ? (
        <>
          <CompanySide answer={company.answer} />
          <CompanyStory company={company.answer.data} />
        </>
      ) : company.error === null ? (
        <Skeleton width="60%" />
      ) : (
        <Failure error={company.error} again={company.again} />
      )}
    </SidePanel>
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
      icon="companies"
      title={t('empty')}
      guide={{ label: t('guide'), href: '/docs' }}
      {...(create && {
        action: (
          <Button kind="primary" onClick={create}>
            {t('create')}
          </Button>
        ),
      })}
    >
      {create ? t('emptyHelp') : t('viewerHelp')}
    </EmptyState>
  );
}

function withText({ q: _, ...search }: CompanySearch, text: string): CompanySearch {
  return text === '' ? search : { ...search, q: text };
}

function sortOf({ sort = '-created_at' }: CompanySearch): Sort {
  return { by: sort.replace(/^-/, ''), descending: sort.startsWith('-') };
}

function withSort({ sort: _, ...search }: CompanySearch, { by, descending }: Sort): CompanySearch {
  const sort = sorts.find((one) => one === (descending ? `-${by}` : by)) ?? sorts.find((one) => one === by);
  return sort === undefined || sort === '-created_at' ? search : { ...search, sort };
}

const isPhone = () => matchMedia('(max-width: 599px)').matches;
