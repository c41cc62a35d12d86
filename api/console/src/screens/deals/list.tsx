import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useRef } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { useList } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/feedback';
import { Money } from '@/ui/money';
import { Status, type Tone } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { date, Time } from '@/ui/time';
import type { Members } from '../record/directory';
import type { Deal, Pipeline } from './board';
import { t } from './messages';
import { useArchiveDeal } from './write';

export const tones: Record<Deal['status'], Tone> = { open: 'busy', won: 'good', lost: 'bad' };

/** ListView is the list of a pipeline's deals. */
export function ListView({ pipeline, members }: { pipeline: Pipeline; members: Members }) {
  const { status, sort = '-created_at' } = useSearch({ from: '/app/deals' });
  const { id: current } = useParams({ strict: false });
  const navigate = useNavigate();
  const may = useMay('member');
  const archive = useArchiveDeal();
  const table = useRef<TableHandle>(null);
  const deals = useList('/api/v1/crm/deals', {
    query: { pipeline_id: pipeline.id, sort, ...(status !== undefined && { status }) },
  });
  useCommands([
    { id: 'deals.down', label: t('next'), keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'deals.up', label: t('previous'), keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  if (deals.error !== null && deals.pending) {
    return <Failure error={deals.error} again={() => deals.pages.retry()} />;
  }
  if (deals.complete && deals.length === 0) {
    return status === undefined ? (
      <EmptyState icon="deals" title={t('empty')} guide={{ label: t('guide'), href: '/docs' }}>
        {may ? t('emptyHelp') : `${t('emptyHelp')} ${t('emptyViewer')}`}
      </EmptyState>
    ) : (
      <EmptyState
        icon="deals"
        title={t('noneFound')}
        action={<Button onClick={() => void navigate({ to: '.', search: ({ status: _, ...rest }) => rest })}>{t('clear')}</Button>}
      />
    );
  }
  const stages = new Map(pipeline.stages.map((stage) => [stage.id, stage.name]));
  const columns: Column<Deal>[] = [
    { key: 'name', title: t('name'), cell: (deal) => deal.name },
    { key: 'stage', title: t('stage'), width: 120, wide: true, cell: (deal) => stages.get(deal.stage_id) },
    {
      key: 'status',
      title: t('status'),
      width: 100,
      wide: true,
      cell: (deal) => <Status tone={tones[deal.status]}>{t(deal.status)}</Status>,
    },
    {
      key: 'owner',
      title: t('owner'),
      width: 130,
      wide: true,
      cell: (deal) => (deal.owner_id === null ? '' : members.nameOf(deal.owner_id)),
    },
    {
      key: 'amount',
      title: t('amount'),
      width: 130,
      end: true,
      cell: (deal) => <Money amount={deal.amount} currency={deal.currency} />,
    },
    {
      key: 'close',
      title: t('closeOn'),
      width: 120,
      wide: true,
      end: true,
      cell: (deal) => (deal.expected_close_on === null ? '' : date(new Date(`${deal.expected_close_on}T12:00:00`))),
    },
    {
      key: 'added',
      title: t('added'),
      width: 120,
      wide: true,
      end: true,
      cell: (deal) => <Time at={deal.created_at} />,
    },
  ];
  const open = (deal: Deal) => void navigate({ to: '/app/deals/$id', params: { id: deal.id }, search: true });
  return (
    <Table
      ref={table}
      label={t('title')}
      columns={columns}
      rows={deals}
      rowKey={(deal) => deal.id}
      href={(deal) => `/app/deals/${deal.id}`}
      onOpen={open}
      current={current}
      phone={(deal) => `${stages.get(deal.stage_id) ?? ''} · ${t(deal.status)}`}
      {...(may && {
        actions: (deal: Deal) => [
          { label: t('archive'), icon: 'archive' as const, danger: true, onSelect: () => archive(deal) },
        ],
      })}
    />
  );
}
