import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { formatNumber } from '@/lib/intl';
import { useList } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { Button } from '@/ui/button';
import { Segments as Choice } from '@/ui/choice';
import { EmptyState } from '@/ui/feedback';
import { Menu, type MenuEntry } from '@/ui/menu';
import { PageHead } from '@/ui/page';
import { Badge, Status } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { Gap, Toolbar } from '@/ui/toolbar';
import { useSegmentActions, type Segment } from './actions';
import { type Fields, useFields } from './fields';
import { readFilter } from './filter';
import { t } from './messages';
import type { SegmentSearch } from './search';
import { sentence } from './words';
import styles from './segments.module.css';

/** Segments is the list of segments. */
export function Segments() {
  const search = useSearch({ from: '/app/segments' });
  const navigate = useNavigate();
  const show = (to: SegmentSearch) => void navigate({ to: '/app/segments', search: to, replace: true });
  const list = useList('/api/v1/crm/segments', { query: { ...search, count: 'exact' } });
  const fields = useFields();
  const may = useMay('member');
  const table = useRef<TableHandle>(null);
  const { archive, restore } = useSegmentActions();
  const create = () => void navigate({ to: '/app/segments/new' });
  useCommands([
    ...(may ? [{ id: 'segments.create', label: t('create'), icon: 'plus' as const, keys: 'c', run: create }] : []),
    { id: 'segments.down', label: t('next'), keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'segments.up', label: t('previous'), keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  const open = (segment: Segment) => void navigate({ to: '/app/segments/$id', params: { id: segment.id } });
  const actions = (segment: Segment): MenuEntry[] => [
    { label: t('open'), keys: 'enter', onSelect: () => open(segment) },
    {
      label: t('showContacts'),
      icon: 'contacts',
      onSelect: () => void navigate({ to: '/app/contacts', search: { segment: segment.key } }),
    },
    { label: t('copyKey'), icon: 'copy', onSelect: () => void navigator.clipboard.writeText(segment.key) },
    ...(!may
      ? []
      : segment.archived_at === null
        ? [null, { label: t('archive'), icon: 'archive' as const, danger: true, onSelect: () => void archive(segment) }]
        : [null, { label: t('restore'), icon: 'undo' as const, onSelect: () => void restore(segment) }]),
  ];
  const isEmpty = list.complete && list.length === 0;
  const isWhole = search.kind === undefined && !search.archived;
  const button = (
    <Button kind="primary" size="small" icon="plus" onClick={create}>
      {t('create')}
    </Button>
  );
  return (
    <div className={styles.page}>
      <PageHead
        title={search.archived ? t('archivedSegments') : t('title')}
        count={list.total === null || isEmpty ? undefined : formatNumber(list.total)}
      >
        {may && !search.archived && !(isEmpty && isWhole) && button}
      </PageHead>
      {!(isEmpty && isWhole) && (
        <Toolbar>
          <Choice
            label={t('kind')}
            value={search.kind ?? 'all'}
            onChange={(kind) => show({ ...(search.archived && { archived: true }), ...(kind !== 'all' && { kind }) })}
            options={[
              { value: 'all', label: t('all') },
              { value: 'dynamic', label: t('dynamic') },
              { value: 'static', label: t('static') },
            ]}
          />
          <Gap />
          <Menu
            align="end"
            trigger={
              <Button kind="quiet" size="small" icon="eye" after="down">
                {t('show')}
              </Button>
            }
            items={[
              { label: t('live'), checked: !search.archived, onSelect: () => show({}) },
              { label: t('archivedSegments'), checked: search.archived === true, onSelect: () => show({ archived: true }) },
            ]}
          />
        </Toolbar>
      )}
      {list.error !== null && list.pending ? (
        <div className={styles.center}>
          <Failure error={list.error} again={() => list.pages.retry()} />
        </div>
      ) : isEmpty ? (
        <div className={styles.center}>
          {isWhole ? (
            <EmptyState
              icon="segments"
              title={t('empty')}
              action={may ? button : undefined}
              guide={{ label: t('guide'), href: '/docs/guides/segments' }}
            >
              {may ? t('emptyText') : t('viewerText')}
            </EmptyState>
          ) : (
            <EmptyState
              icon="search"
              title={t('noneFound')}
              action={<Button onClick={() => show({})}>{t('showAll')}</Button>}
            >
              {t('noneFoundText')}
            </EmptyState>
          )}
        </div>
      ) : (
        <Table
          key={JSON.stringify(search)}
          ref={table}
          label={t('title')}
          columns={columnsOf(fields)}
          rows={list}
          rowKey={(segment) => segment.id}
          href={(segment) => `/app/segments/${segment.id}`}
          onOpen={open}
          actions={actions}
          phone={(segment) => t('contactCount', { count: segment.contact_count })}
          loading={list.pending}
          twoLines
        />
      )}
    </div>
  );
}

function columnsOf(fields: Fields): Column<Segment>[] {
  return [
    {
      key: 'name',
      title: t('name'),
      cell: (segment) => (
        <span className={styles.two}>
          <span className={styles.cut}>{segment.name}</span>
          <span className={styles.second}>{summary(segment, fields)}</span>
        </span>
      ),
    },
    { key: 'kind', title: t('kind'), width: 104, wide: true, cell: (segment) => <Badge>{t(segment.kind)}</Badge> },
    {
      key: 'status',
      title: t('status'),
      width: 112,
      wide: true,
      cell: ({ status }) => <Status tone={status === 'ready' ? 'good' : 'busy'}>{t(status)}</Status>,
    },
    {
      key: 'contacts',
      title: t('contacts'),
      width: 96,
      end: true,
      wide: true,
      cell: (segment) => formatNumber(segment.contact_count),
    },
    { key: 'created', title: t('created'), width: 112, end: true, wide: true, cell: (s) => <Time at={s.created_at} /> },
  ];
}

/** The second line of a row: the conditions in words, once the fields are known. */
function summary(segment: Segment, fields: Fields): string {
  if (segment.kind === 'static') return t('staticHelp');
  const group = fields.pending ? null : readFilter(segment.filter);
  return group === null ? '' : sentence(group, fields.names);
}
