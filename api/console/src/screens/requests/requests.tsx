import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Failure } from '@/app/failure';
import { useList } from '@/lib/read';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/feedback';
import { PageHead } from '@/ui/page';
import { Status } from '@/ui/status';
import { Table, type Column } from '@/ui/table';
import { Time } from '@/ui/time';
import { duration, type LoggedRequest, routeOf, toneOf, useCallers } from './callers';
import { Filters } from './filters';
import { t } from './messages';
import { RequestPanel } from './request';
import type { RequestSearch } from './routes';
import styles from './requests.module.css';

const path = '/app/settings/integrations/requests';

/** Requests lists the API requests of the last seven days, newest first. */
export function Requests() {
  const search = useSearch({ from: path });
  const navigate = useNavigate({ from: path });
  const callers = useCallers();
  const [open, setOpen] = useState<{ request: LoggedRequest; index: number } | null>(null);
  const requests = useList('/api/v1/request-log', {
    query: {
      ...(search.id && { request_id: search.id }),
      ...(search.status && { status: search.status }),
      ...(search.route && { route: search.route }),
      ...(search.key && { key_id: search.key }),
      ...(search.from && { from: search.from }),
      ...(search.to && { to: search.to }),
    },
  });
  const set = (next: RequestSearch) => void navigate({ search: next, replace: true });
  const at = (index: number) => {
    const request = index < 0 ? undefined : requests.row(index);
    return request && (() => setOpen({ request, index }));
  };
  const columns: Column<LoggedRequest>[] = [
    { key: 'request', title: t('request'), cell: (request) => <Name request={request} /> },
    {
      key: 'status',
      title: t('status'),
      width: 72,
      cell: (request) => <Status tone={toneOf(request.status)}>{String(request.status)}</Status>,
    },
    { key: 'caller', title: t('caller'), width: 132, wide: true, cell: (request) => callers.nameOf(request) },
    { key: 'took', title: t('took'), width: 64, end: true, wide: true, cell: (request) => duration(request.took_ms) },
    { key: 'time', title: t('time'), width: 88, end: true, cell: (request) => <Time at={request.created_at} /> },
  ];
  const isFiltered = Object.keys(search).length > 0;
  const isEmpty = !requests.pending && requests.error === null && requests.length === 0;
  return (
    <div className={styles.page}>
      <PageHead title={t('title')}>
        <Button size="small" icon="refresh" onClick={() => requests.pages.refresh()}>
          {t('refresh')}
        </Button>
      </PageHead>
      <Filters search={search} callers={callers} routes={routesOf(requests, search.route)} onChange={set} />
      {requests.error !== null && requests.length === 0 ? (
        <Failure error={requests.error} again={() => requests.pages.retry()} />
      ) : isEmpty ? (
        <EmptyState
          icon="bolt"
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
          rows={requests}
          rowKey={(request) => request.id}
          loading={requests.pending}
          current={open?.request.id}
          phone={(request) => callers.nameOf(request)}
          onOpen={(request) => setOpen({ request, index: indexOf(requests, request) })}
        />
      )}
      {open && (
        <RequestPanel
          request={open.request}
          callers={callers}
          onClose={() => setOpen(null)}
          onPrevious={at(open.index - 1)}
          onNext={at(open.index + 1)}
          onFilter={(next) => {
            setOpen(null);
            set(next);
          }}
        />
      )}
    </div>
  );
}

interface Rows {
  length: number;
  row: (index: number) => LoggedRequest | undefined;
}

function indexOf(requests: Rows, request: LoggedRequest): number {
  for (let i = 0; i < requests.length; i++) if (requests.row(i)?.id === request.id) return i;
  return -1;
}

/** routesOf returns the routes of the rows that are loaded, and the chosen one. */
function routesOf(requests: Rows, chosen: string | undefined): string[] {
  const found = new Set(chosen === undefined ? [] : [chosen]);
  for (let i = 0; i < requests.length; i++) {
    const route = requests.row(i)?.route;
    if (route !== undefined && route !== null) found.add(route);
  }
  return [...found].sort();
}

function Name({ request }: { request: LoggedRequest }) {
  return (
    <span className={styles.name}>
      <span className={styles.method}>{request.method}</span> <span className="mono">{routeOf(request)}</span>
    </span>
  );
}
