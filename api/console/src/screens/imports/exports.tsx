import { useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { formatNumber } from '@/lib/intl';
import { useList } from '@/lib/read';
import { useApi } from '@/lib/services';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/feedback';
import { Badge, Status } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { report } from '../record/report';
import { rowsOf } from '../record/rest';
import { t } from './messages';
import { useReadWhile } from './usereadwhile';
import { formatBytes, isRunning, stateOf, type Export } from './words';
import styles from './imports.module.css';

/** Exports is the list of exports, with their files. */
export function Exports() {
  const list = useList('/api/v1/crm/contacts/exports', { query: {} });
  const table = useRef<TableHandle>(null);
  useCommands([
    { id: 'exports.down', label: t('next'), keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'exports.up', label: t('previous'), keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  useReadWhile(
    rowsOf(list).some((one) => isRunning(one.status)),
    '/api/v1/crm/contacts/exports',
  );
  if (list.error !== null && list.pending) return <Failure error={list.error} again={() => list.pages.retry()} />;
  if (list.complete && list.length === 0) {
    return (
      <div className={styles.center}>
        <EmptyState icon="exports" title={t('exportsEmpty')} guide={{ label: t('guide'), href: '/docs/guides/import' }}>
          {t('exportsEmptyText')}
        </EmptyState>
      </div>
    );
  }
  return (
    <Table
      ref={table}
      label={t('exports')}
      columns={columns}
      rows={list}
      rowKey={(one) => one.id}
      phone={(one) => stateOf(one.status).word}
      loading={list.pending}
    />
  );
}

const columns: readonly Column<Export>[] = [
  {
    key: 'who',
    title: t('who'),
    cell: (one) => (
      <span className={styles.name}>
        <span className={styles.cut}>{whoOf(one)}</span>
        <Badge>{t(one.format)}</Badge>
      </span>
    ),
  },
  {
    key: 'state',
    title: t('state'),
    width: 128,
    wide: true,
    cell: (one) => <Status tone={stateOf(one.status).tone}>{stateOf(one.status).word}</Status>,
  },
  { key: 'rows', title: t('rows'), width: 96, end: true, wide: true, cell: (one) => formatNumber(one.rows) },
  { key: 'size', title: t('size'), width: 88, end: true, wide: true, cell: (one) => formatBytes(one.bytes) },
  { key: 'when', title: t('when'), width: 112, end: true, wide: true, cell: (one) => <Time at={one.created_at} /> },
  {
    key: 'download',
    title: t('download'),
    width: 140,
    end: true,
    cell: (one) => one.status === 'completed' && <Download id={one.id} />,
  },
];

function whoOf({ filter, archived }: Export): string {
  if (archived) return t('archivedOnes');
  return filter === null ? t('everyone') : t('filtered');
}

/** Download asks for a new link at each click, since a link is valid for a short time. */
function Download({ id }: { id: string }) {
  const api = useApi();
  const [busy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    try {
      const { data } = await api.get('/api/v1/crm/contacts/exports/{id}', { path: { id } });
      if (data.download_url === null) toast({ kind: 'plain', title: t('gone'), detail: t('goneText') });
      else window.location.assign(data.download_url);
    } catch (error) {
      report(t('downloadFailed'), error);
    }
    setBusy(false);
  };
  return (
    <Button size="small" icon="exports" busy={busy} onClick={() => void start()}>
      {t('download')}
    </Button>
  );
}
