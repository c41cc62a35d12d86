import { useInfiniteQuery } from '@tanstack/react-query';
import { Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { useRead } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useStore } from '@/lib/store';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/feedback';
import { PageHead } from '@/ui/page';
import { Select } from '@/ui/select';
import { Status } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { Gap, Toolbar } from '@/ui/toolbar';
import { t } from './messages';
import { prepend, useTail } from './tail';
import { subjectOf, type Event } from './words';
import styles from './events.module.css';

const columns: readonly Column<Event>[] = [
  { key: 'type', title: t('type'), width: '34%', cell: (event) => event.type },
  { key: 'about', title: t('about'), wide: true, cell: (event) => subjectOf(event.data.object) },
  { key: 'actor', title: t('actor'), width: 112, wide: true, cell: (event) => actorWord(event) },
  { key: 'time', title: t('time'), width: 96, end: true, cell: (event) => <Time at={event.created_at} /> },
];

function actorWord(event: Event): string {
  if (event.actor.type === 'user') return t('user');
  return event.actor.type === 'api_key' ? t('apiKey') : t('system');
}

const path = '/app/settings/integrations/events';

/** Events shows the feed as it grows, the newest first. */
export function Events() {
  const search = useSearch({ from: path });
  const { id } = useParams({ strict: false });
  const navigate = useNavigate();
  const types = useRead('/api/v1/event-types');
  const [paused, setPaused] = useState(false);
  const history = useHistory(search.type);
  const tail = useTail(paused, (event) => search.type === undefined || event.type === search.type, history.again);
  useEffect(tail.clear, [search.type]);
  const rows = useMemo(() => prepend(history.rows, tail.events, Infinity), [history.rows, tail.events]);
  const table = useRef<TableHandle>(null);
  const resume = () => {
    setPaused(false);
    tail.show();
  };
  const toggle = () => (paused ? resume() : setPaused(true));
  useCommands([
    { id: 'events.down', label: 'Next event', keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'events.up', label: 'Previous event', keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
    { id: 'events.pause', label: paused ? t('resume') : t('pause'), icon: paused ? 'play' : 'pause', keys: 'p', run: toggle },
  ]);
  const filter = (type: string) =>
    void navigate({ to: path, search: type === '' ? {} : { type }, replace: true });
  const open = (event: Event) =>
    void navigate({ to: '/app/settings/integrations/events/$id', params: { id: event.id }, search, replace: id !== undefined });
  return (
    <div className={styles.screen}>
      <div className={styles.list}>
        <PageHead title={t('title')}>
          {paused && tail.waiting > 0 && (
            <Button size="small" kind="quiet" icon="up" onClick={tail.show}>
              {t('newer', { count: tail.waiting })}
            </Button>
          )}
          <Button size="small" icon={paused ? 'play' : 'pause'} onClick={toggle}>
            {paused ? t('resume') : t('pause')}
          </Button>
        </PageHead>
        <Toolbar>
          <span className={styles.select}>
            <Select
              size="small"
              label={t('type')}
              value={search.type ?? ''}
              onChange={filter}
              options={[
                { value: '', label: t('allTypes') },
                ...(types.data?.data ?? []).filter((one) => one.live).map((one) => ({ value: one.type, label: one.type })),
              ]}
            />
          </span>
          {search.type !== undefined && (
            <Button kind="quiet" size="small" onClick={() => filter('')}>
              {t('clear')}
            </Button>
          )}
          <Gap />
          <Live paused={paused} />
        </Toolbar>
        {history.error !== null && rows.length === 0 ? (
          <Failure error={history.error} again={history.again} />
        ) : rows.length === 0 && !history.loading ? (
          <EmptyState
            icon="events"
            title={search.type === undefined ? t('none') : t('noMatch')}
            guide={{ label: t('guide'), href: '/docs/webhooks' }}
            action={search.type === undefined ? undefined : <Button onClick={() => filter('')}>{t('clear')}</Button>}
          >
            {t('noneText')}
          </EmptyState>
        ) : (
          <Table
            ref={table}
            label={t('title')}
            columns={columns}
            rows={rows}
            rowKey={(event) => event.id}
            href={(event) => `${path}/${event.id}`}
            onOpen={open}
            current={id}
            phone={(event) => subjectOf(event.data.object)}
            loading={history.loading}
            onMore={history.more}
          />
        )}
      </div>
      <Outlet />
    </div>
  );
}

function Live({ paused }: { paused: boolean }) {
  const { hub } = useScope();
  const connected = useStore(hub.connected);
  if (paused) return <Status tone="off">{t('paused')}</Status>;
  return <Status tone={connected ? 'good' : 'warn'}>{connected ? t('live') : t('reconnecting')}</Status>;
}

const pageSize = 100;

/** useHistory reads the events that were there when the page was opened, the newest first, page by page. */
function useHistory(type: string | undefined) {
  const api = useApi();
  const query = useInfiniteQuery({
    queryKey: ['events.history', type], // no path: the tail adds what happens, so events do not make it stale
    queryFn: async ({ pageParam, signal }) => {
      const filter = { ...(type && { type }), ...(pageParam && { cursor: pageParam }) };
      return (await api.get('/api/v1/events', { query: { sort: '-seq', limit: pageSize, ...filter }, signal })).data;
    },
    initialPageParam: '',
    getNextPageParam: (page) => (page.has_more ? page.next_cursor : undefined),
    staleTime: Infinity,
    gcTime: 0, // what happens while the page is closed is missing in it
  });
  return {
    rows: useMemo(() => query.data?.pages.flatMap((page) => page.data) ?? [], [query.data]),
    error: query.error,
    loading: query.isFetching,
    again: () => void query.refetch(),
    more: query.hasNextPage ? () => void query.fetchNextPage() : undefined,
  };
}
