import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { formatNumber } from '@/lib/intl';
import { useList } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { Button } from '@/ui/button';
import { Segments } from '@/ui/choice';
import { EmptyState } from '@/ui/feedback';
import { later } from '@/ui/later';
import { PageHead } from '@/ui/page';
import { Badge, Status } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { Toolbar } from '@/ui/toolbar';
import { rowsOf } from '../record/rest';
import { Exports } from './exports';
import { t } from './messages';
import { useReadWhile } from './usereadwhile';
import { doneOf, importState, isActive, type Import } from './words';
import styles from './imports.module.css';

const CreateExport = later(() => import('./createexport').then((m) => m.CreateExport));

/** Imports has the list of imports, and that of exports. */
export function Imports() {
  const { show } = useSearch({ from: '/app/imports' });
  const navigate = useNavigate();
  const may = useMay('member');
  const [creating, setCreating] = useState(false);
  const isExports = show === 'exports';
  const create = () => (isExports ? setCreating(true) : void navigate({ to: '/app/imports/new' }));
  const mayCreate = may || isExports; // every role may export
  const word = isExports ? t('newExport') : t('newImport');
  useCommands(mayCreate ? [{ id: 'imports.create', label: word, icon: 'plus', keys: 'c', run: create }] : []);
  return (
    <div className={styles.page}>
      <PageHead title={isExports ? t('exports') : t('title')}>
        {mayCreate && (
          <Button kind="primary" size="small" icon={isExports ? 'exports' : 'imports'} onClick={create}>
            {word}
          </Button>
        )}
      </PageHead>
      <Toolbar>
        <Segments
          label={t('which')}
          value={isExports ? 'exports' : 'imports'}
          onChange={(to) =>
            void navigate({ to: '/app/imports', search: to === 'exports' ? { show: to } : {}, replace: true })
          }
          options={[
            { value: 'imports', label: t('title') },
            { value: 'exports', label: t('exports') },
          ]}
        />
      </Toolbar>
      {isExports ? <Exports /> : <ImportList may={may} />}
      {creating && <CreateExport onClose={() => setCreating(false)} />}
    </div>
  );
}

function ImportList({ may }: { may: boolean }) {
  const list = useList('/api/v1/crm/contacts/imports', { query: {} });
  const navigate = useNavigate();
  const table = useRef<TableHandle>(null);
  useCommands([
    { id: 'imports.down', label: t('next'), keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'imports.up', label: t('previous'), keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  useReadWhile(rowsOf(list).some(isActive), '/api/v1/crm/contacts/imports');
  const open = (one: Import) => void navigate({ to: '/app/imports/$id', params: { id: one.id } });
  if (list.error !== null && list.pending) return <Failure error={list.error} again={() => list.pages.retry()} />;
  if (list.complete && list.length === 0) {
    return (
      <div className={styles.center}>
        <EmptyState icon="imports" title={t('empty')} guide={{ label: t('guide'), href: '/docs/guides/import' }}>
          {may ? t('emptyText') : t('viewerText')}
        </EmptyState>
      </div>
    );
  }
  return (
    <Table
      ref={table}
      label={t('title')}
      columns={columns}
      rows={list}
      rowKey={(one) => one.id}
      href={(one) => `/app/imports/${one.id}`}
      onOpen={open}
      phone={(one) => `${importState(one).word} · ${formatNumber(one.rows_total)}`}
      loading={list.pending}
      actions={(one) => [{ label: t('open'), keys: 'enter', onSelect: () => open(one) }]}
    />
  );
}

const columns: readonly Column<Import>[] = [
  {
    key: 'file',
    title: t('file'),
    cell: (one) => (
      <span className={styles.name}>
        <span className={styles.cut}>{one.file_name ?? t('noName')}</span>
        {one.dry_run && <Badge>{t('dryRun')}</Badge>}
      </span>
    ),
  },
  {
    key: 'state',
    title: t('state'),
    width: 128,
    wide: true,
    cell: (one) => <Status tone={importState(one).tone}>{importState(one).word}</Status>,
  },
  {
    key: 'rows',
    title: t('rows'),
    width: 128,
    end: true,
    wide: true,
    cell: (one) =>
      isActive(one) ? `${formatNumber(doneOf(one))} / ${formatNumber(one.rows_total)}` : formatNumber(one.rows_total),
  },
  { key: 'created', title: t('created'), width: 88, end: true, wide: true, cell: (one) => formatNumber(one.rows_created) },
  { key: 'updated', title: t('updated'), width: 88, end: true, wide: true, cell: (one) => formatNumber(one.rows_updated) },
  { key: 'failed', title: t('failed'), width: 80, end: true, wide: true, cell: (one) => formatNumber(one.rows_failed) },
  { key: 'when', title: t('when'), width: 112, end: true, wide: true, cell: (one) => <Time at={one.created_at} /> },
];
