import { useMemo, useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { formatTime } from '@/lib/intl';
import { invalidate, useList, useRead, type Row } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { describe } from '@/lib/describe';
import { Button } from '@/ui/button';
import { ConfirmDialog } from '@/ui/dialog';
import { EmptyState } from '@/ui/feedback';
import { PageHead } from '@/ui/page';
import { Badge } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { CreateDialog } from './create';
import { t } from './messages';

type Key = Row<'/api/v1/api-keys'>;

/** Keys lists the org's API keys. */
export function Keys() {
  const { org, role } = useScope();
  if (!useMay('admin', 'keys')) {
    return (
      <EmptyState icon="lock" title={t('needRole')}>
        {t('needRoleText', { org: org.name, role })}
      </EmptyState>
    );
  }
  return <KeyList />;
}

function KeyList() {
  const list = useList('/api/v1/api-keys', { query: { count: 'exact' } });
  const members = useRead('/api/v1/members', { query: { limit: 200 } });
  const [creating, setCreating] = useState(false);
  const [revoking, setRevoking] = useState<Key | null>(null);
  const table = useRef<TableHandle>(null);
  const api = useApi();
  const scope = useScope();
  const revoke = useSubmit(
    (key: Key) => api.delete('/api/v1/api-keys/{id}', { path: { id: key.id } }),
    () => {
      setRevoking(null);
      invalidate(scope, '/api/v1/api-keys');
      toast({ title: t('revoked') });
    },
  );
  const names = useMemo(
    () =>
      new Map(
        (members.data?.data ?? []).map((one) => [one.id, `${one.first_name} ${one.last_name}`.trim() || one.email]),
      ),
    [members.data],
  );
  useCommands([
    { id: 'keys.create', label: t('createTitle'), icon: 'key', keys: 'c', run: () => setCreating(true) },
    { id: 'keys.down', label: 'Next key', keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'keys.up', label: 'Previous key', keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  const columns: readonly Column<Key>[] = [
    { key: 'name', title: t('name'), cell: (key) => key.name },
    { key: 'role', title: t('role'), width: 96, cell: (key) => <Badge>{t(key.role)}</Badge> },
    { key: 'hint', title: t('hint'), width: 104, wide: true, cell: (key) => <code>{`fw_…${key.hint}`}</code> },
    {
      key: 'by',
      title: t('by'),
      width: 152,
      wide: true,
      cell: (key) => names.get(key.created_by) ?? (members.data ? t('former') : ''),
    },
    { key: 'created', title: t('created'), width: 104, wide: true, cell: (key) => <Time at={key.created_at} /> },
    { key: 'used', title: t('used'), width: 104, end: true, wide: true, cell: (key) => <Used key={key.id} at={key.last_used_at} /> },
  ];
  const isEmpty = list.complete && list.length === 0;
  const button = (
    <Button kind="primary" size="small" icon="plus" onClick={() => setCreating(true)}>
      {t('newKey')}
    </Button>
  );
  return (
    <>
      <PageHead title={t('title')} count={list.total ?? undefined}>
        {!isEmpty && button}
      </PageHead>
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : isEmpty ? (
        <EmptyState icon="key" title={t('empty')} action={button} guide={{ label: t('guide'), href: '/docs' }}>
          {t('emptyText')}
        </EmptyState>
      ) : (
        <Table
          ref={table}
          label={t('title')}
          columns={columns}
          rows={list}
          rowKey={(key) => key.id}
          phone={(key) => <Used at={key.last_used_at} />}
          loading={list.pending}
          actions={(key) => [
            { label: t('revoke'), icon: 'trash', danger: true, onSelect: () => setRevoking(key) },
          ]}
        />
      )}
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
      <ConfirmDialog
        open={revoking !== null}
        onClose={() => {
          setRevoking(null);
          revoke.reset();
        }}
        title={t('revokeTitle', { name: revoking?.name ?? '' })}
        consequence={
          <>
            <p>
              {revoking?.last_used_at
                ? t('revokeUsed', { time: formatTime(revoking.last_used_at) })
                : t('revokeUnused')}{' '}
              {t('cannotUndo')}
            </p>
            {revoke.error !== null && <p role="alert">{describe(revoke.error)?.detail}</p>}
          </>
        }
        action={t('revoke')}
        busy={revoke.busy}
        onConfirm={() => revoking !== null && void revoke.submit(revoking)}
      />
    </>
  );
}

function Used({ at }: { at: string | null }) {
  return at === null ? <>{t('never')}</> : <Time at={at} />;
}
