import { useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { formatNumber } from '@/lib/intl';
import { invalidate, useList } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { ConfirmDialog } from '@/ui/dialog';
import { EmptyState } from '@/ui/feedback';
import { PageHead } from '@/ui/page';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { CreateField, type CustomField } from './create';
import { t } from './messages';
import { RenameField } from './rename';
import styles from './fields.module.css';

const columns: readonly Column<CustomField>[] = [
  { key: 'label', title: t('label'), cell: (field) => field.label },
  { key: 'key', title: t('key'), width: '30%', wide: true, cell: (field) => <code>{field.key}</code> },
  { key: 'type', title: t('type'), width: 112, cell: (field) => t(field.type) },
  { key: 'added', title: t('added'), width: 112, end: true, wide: true, cell: (field) => <Time at={field.created_at} /> },
];

type Act = { kind: 'create' } | { kind: 'rename' | 'remove'; field: CustomField };

/** Fields lists the fields of contacts that the org has defined. */
export function Fields() {
  const list = useList('/api/v1/crm/fields', { query: { count: 'exact' } });
  const { org, role } = useScope();
  const isAdmin = useMay('admin');
  const table = useRef<TableHandle>(null);
  const [act, setAct] = useState<Act | null>(null);
  const close = () => setAct(null);
  useCommands([
    ...(isAdmin
      ? [{ id: 'fields.create', label: t('newField'), icon: 'plus' as const, keys: 'c', run: () => setAct({ kind: 'create' }) }]
      : []),
    { id: 'fields.down', label: t('next'), keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'fields.up', label: t('previous'), keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  const isEmpty = list.complete && list.length === 0;
  const button = (
    <Button kind="primary" size="small" icon="plus" onClick={() => setAct({ kind: 'create' })}>
      {t('newField')}
    </Button>
  );
  return (
    <>
      <PageHead title={t('title')} count={list.total === null || isEmpty ? undefined : formatNumber(list.total)}>
        {isAdmin && !isEmpty && button}
      </PageHead>
      {!isAdmin && <p className={styles.note}>{t('admins', { org: org.name, role })}</p>}
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : isEmpty ? (
        <EmptyState
          icon="columns"
          title={t('empty')}
          action={isAdmin ? button : undefined}
          guide={{ label: t('guide'), href: '/docs' }}
        >
          {t('emptyText')}
        </EmptyState>
      ) : (
        <Table
          ref={table}
          label={t('title')}
          columns={columns}
          rows={list}
          rowKey={(field) => field.key}
          phone={(field) => field.key}
          loading={list.pending}
          {...(isAdmin && {
            onOpen: (field: CustomField) => setAct({ kind: 'rename', field }),
            actions: (field: CustomField) => [
              { label: t('rename'), icon: 'edit' as const, onSelect: () => setAct({ kind: 'rename', field }) },
              null,
              {
                label: t('remove'),
                icon: 'trash' as const,
                danger: true,
                onSelect: () => setAct({ kind: 'remove', field }),
              },
            ],
          })}
        />
      )}
      {act?.kind === 'create' && <CreateField onClose={close} />}
      {act?.kind === 'rename' && <RenameField field={act.field} onClose={close} />}
      {act?.kind === 'remove' && <RemoveField field={act.field} onClose={close} />}
    </>
  );
}

function RemoveField({ field, onClose }: { field: CustomField; onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const remove = useSubmit(
    (key: string) => api.delete('/api/v1/crm/fields/{key}', { path: { key } }),
    () => {
      invalidate(scope, '/api/v1/crm/fields', '/api/v1/crm/filter-fields', '/api/v1/crm/contacts');
      toast({ title: t('removed') });
      onClose();
    },
  );
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t('removeTitle', { name: field.label })}
      consequence={
        <>
          <p>{t('removeText')}</p>
          {remove.error !== null && <p role="alert">{describe(remove.error)?.detail}</p>}
        </>
      }
      action={t('remove')}
      type={field.key}
      busy={remove.busy}
      onConfirm={() => void remove.submit(field.key)}
    />
  );
}
