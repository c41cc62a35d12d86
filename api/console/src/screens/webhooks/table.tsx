import { useNavigate } from '@tanstack/react-router';
import { useMemo, useRef } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { useList, useRead } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/feedback';
import { Status as StatusWord } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import type { EventTypeName } from './types';
import { useRedeliver } from './actions';
import { since, type Delivery, type DeliveryFilter } from './filter';
import { FilterBar } from './filterbar';
import { useLive } from './live';
import { t } from './messages';
import { formatDuration, nameOf, outcome, statusWords, triggerWord } from './words';
import styles from './webhooks.module.css';

const columns: readonly Column<Delivery>[] = [
  {
    key: 'type',
    title: t('type'),
    cell: (one) => (
      <>
        {one.event_type}
        {one.trigger !== 'event' && <span className={styles.tag}>{triggerWord(one.trigger)}</span>}
      </>
    ),
  },
  {
    key: 'status',
    title: t('status'),
    width: 112,
    cell: (one) => <StatusWord tone={statusWords[one.status].tone}>{statusWords[one.status].word}</StatusWord>,
  },
  {
    key: 'response',
    title: t('response'),
    width: 148,
    wide: true,
    cell: (one) => {
      const last = one.attempts.at(-1);
      return (
        <span className={styles.response}>
          {outcome(one.last_status_code, one.last_error_class)}
          {last !== undefined && <span className="meta num">{formatDuration(last.timings.total_ms)}</span>}
        </span>
      );
    },
  },
  { key: 'attempts', title: t('attempts'), width: 80, end: true, wide: true, cell: (one) => one.attempt_count },
  { key: 'time', title: t('time'), width: 96, end: true, wide: true, cell: (one) => <Time at={one.created_at} /> },
];

/** DeliveryTable lists deliveries of one webhook or of all, with filters, and follows what happens. */
export function DeliveryTable({ webhook, filter, onFilter, onTest }: {
  webhook?: string;
  filter: DeliveryFilter;
  onFilter: (filter: DeliveryFilter) => void;
  onTest?: () => void;
}) {
  const hooks = useRead('/api/v1/webhooks', { query: { limit: 200 } });
  const created_after = useMemo(() => (filter.range ? since(filter.range) : undefined), [filter.range]);
  const webhook_id = webhook ?? filter.webhook;
  const list = useList('/api/v1/webhook-deliveries', {
    query: {
      ...(filter.status && { status: filter.status }),
      ...(filter.type && { event_type: filter.type as EventTypeName }),
      ...(created_after && { created_after }),
      ...(webhook_id && { webhook_id }),
    },
  });
  useLive(5000, '/api/v1/webhook-deliveries');
  const isAdmin = useMay('admin');
  const navigate = useNavigate();
  const redeliver = useRedeliver();
  const table = useRef<TableHandle>(null);
  const names = useMemo(
    () => new Map((hooks.data?.data ?? []).map((hook) => [hook.id, nameOf(hook.url)])),
    [hooks.data],
  );
  const nameFor = (one: Delivery) => names.get(one.webhook_id) ?? (hooks.data ? t('unknownWebhook') : '');
  const shown: readonly Column<Delivery>[] =
    webhook === undefined
      ? [
          ...columns.slice(0, 2),
          { key: 'webhook', title: t('webhook'), width: '28%', wide: true, cell: nameFor },
          ...columns.slice(2),
        ]
      : columns;
  useCommands([
    { id: 'deliveries.down', label: 'Next delivery', keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'deliveries.up', label: 'Previous delivery', keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  const open = (one: Delivery) =>
    void navigate({
      to: '/app/settings/integrations/webhooks/$id/deliveries/$d',
      params: { id: one.webhook_id, d: one.id },
    });
  const isFiltered = Object.keys(filter).length > 0;
  const isEmpty = list.complete && list.length === 0;
  return (
    <>
      <FilterBar
        filter={filter}
        onFilter={onFilter}
        {...(webhook === undefined && { webhooks: hooks.data?.data ?? [] })}
      />
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : isEmpty && isFiltered ? (
        <EmptyState
          icon="filter"
          title={t('noMatch')}
          action={<Button onClick={() => onFilter({})}>{t('clear')}</Button>}
        />
      ) : isEmpty ? (
        <EmptyState
          icon="bolt"
          title={t('none')}
          action={isAdmin && onTest ? <Button onClick={onTest}>{t('sendTest')}</Button> : undefined}
          guide={{ label: t('guide'), href: '/docs/webhooks' }}
        >
          {t('noneText')}
        </EmptyState>
      ) : (
        <Table
          ref={table}
          label={t('deliveries')}
          columns={shown}
          rows={list}
          rowKey={(one) => one.id}
          href={(one) => `/app/settings/integrations/webhooks/${one.webhook_id}/deliveries/${one.id}`}
          onOpen={open}
          phone={(one) => (
            <>
              {outcome(one.last_status_code, one.last_error_class)} · <Time at={one.created_at} />
            </>
          )}
          loading={list.pending}
          {...(isAdmin && {
            actions: (one: Delivery) => [
              { label: t('redeliver'), icon: 'refresh' as const, onSelect: () => void redeliver.submit(one) },
              { label: t('open'), icon: 'right' as const, onSelect: () => open(one) },
            ],
          })}
        />
      )}
    </>
  );
}
