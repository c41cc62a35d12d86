import { useNavigate, useSearch } from '@tanstack/react-router';
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
import { Dialog } from '@/ui/dialog';
import { EmptyState } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { PageHead } from '@/ui/page';
import { Select } from '@/ui/select';
import { Status as StatusDot } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { Toolbar } from '@/ui/toolbar';
import { useAct } from '../mail/act';
import styles from '../mail/mail.module.css';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { t } from './messages';
import { isUnderWay, tones, type Broadcast, type Status } from './words';

const columns: readonly Column<Broadcast>[] = [
  {
    key: 'name',
    title: t('name'),
    cell: (one) => (
      <span className={styles.two}>
        <span className={styles.first}>{one.name}</span>
        <span className={styles.second}>{one.email.subject}</span>
      </span>
    ),
  },
  {
    key: 'status',
    title: t('status'),
    width: 128,
    cell: (one) => <StatusDot tone={tones[one.status]}>{t(one.status)}</StatusDot>,
  },
  {
    key: 'audience',
    title: t('audience'),
    width: 104,
    end: true,
    wide: true,
    cell: (one) => (one.total === 0 ? '' : formatNumber(one.sendable)),
  },
  {
    key: 'at',
    title: t('sendAt'),
    width: 120,
    end: true,
    wide: true,
    cell: (one) => (one.send_at === null ? '' : <Time at={one.send_at} />),
  },
];

const statuses: readonly Status[] = ['draft', 'scheduled', 'preparing', 'sending', 'paused', 'sent', 'cancelled'];
const filters = [{ value: 'any', label: t('any') }, ...statuses.map((value) => ({ value, label: t(value) }))] as const;

/** Broadcasts lists the mails to many. */
export function Broadcasts() {
  const { status } = useSearch({ from: '/app/broadcasts' });
  const list = useList('/api/v1/broadcasts', { query: { count: 'exact', ...(status !== undefined && { status }) } });
  const { org, role } = useScope();
  const mayEdit = useMay('member');
  const navigate = useNavigate();
  const api = useApi();
  const table = useRef<TableHandle>(null);
  const [creating, setCreating] = useState(false);
  const { run } = useAct('/api/v1/broadcasts');
  const open = (one: Pick<Broadcast, 'id'>) => void navigate({ to: '/app/broadcasts/$id', params: { id: one.id } });
  useCommands([
    { id: 'broadcasts.down', label: 'Next broadcast', keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'broadcasts.up', label: 'Previous broadcast', keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
    ...(mayEdit
      ? [{ id: 'broadcasts.create', label: t('create'), icon: 'plus' as const, keys: 'c', run: () => setCreating(true) }]
      : []),
  ]);
  const archive = (one: Broadcast) =>
    void run('archive', () => api.delete('/api/v1/broadcasts/{id}', { path: { id: one.id } }), {
      title: t('archived'),
      onUndo: () =>
        void run(
          'restore',
          (idempotencyKey) => api.post('/api/v1/broadcasts/{id}/restore', { path: { id: one.id }, idempotencyKey }),
          { title: t('restored') },
        ),
    });
  const button = (
    <Button kind="primary" size="small" icon="plus" onClick={() => setCreating(true)}>
      {t('newBroadcast')}
    </Button>
  );
  const isEmpty = list.complete && list.length === 0;
  const isFirst = isEmpty && status === undefined;
  const choose = (value: (typeof filters)[number]['value']) =>
    void navigate({ to: '/app/broadcasts', search: value === 'any' ? {} : { status: value } });
  return (
    <>
      <PageHead title={t('title')} count={list.total ?? undefined}>
        {mayEdit && !isFirst && button}
      </PageHead>
      {!mayEdit && <p className={styles.note}>{t('mayNot', { org: org.name, role })}</p>}
      {!isFirst && (
        <Toolbar>
          <span>
            <Select label={t('status')} size="small" value={status ?? 'any'} options={filters} onChange={choose} />
          </span>
        </Toolbar>
      )}
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : isFirst ? (
        <EmptyState
          icon="broadcasts"
          title={t('empty')}
          action={mayEdit ? button : undefined}
          guide={{ label: t('guide'), href: '/docs/guides/email' }}
        >
          {t('emptyText')}
        </EmptyState>
      ) : isEmpty ? (
        <EmptyState
          icon="filter"
          title={t('noneMatch')}
          action={<Button onClick={() => choose('any')}>{t('showAll')}</Button>}
        />
      ) : (
        <Table
          ref={table}
          label={t('title')}
          columns={columns}
          rows={list}
          rowKey={(one) => one.id}
          href={(one) => `/app/broadcasts/${one.id}`}
          onOpen={open}
          loading={list.pending}
          twoLines
          {...(mayEdit && {
            actions: (one: Broadcast) =>
              isUnderWay(one) || one.status === 'scheduled'
                ? []
                : [{ label: t('archive'), icon: 'archive' as const, danger: true, onSelect: () => archive(one) }],
          })}
        />
      )}
      {creating && <CreateDialog onClose={() => setCreating(false)} onCreated={open} />}
    </>
  );
}

function CreateDialog({ onClose, onCreated }: { onClose: () => void; onCreated: (one: Broadcast) => void }) {
  const api = useApi();
  const scope = useScope();
  const [name, setName] = useState('');
  const create = useSubmit(
    (body: { name: string }, idempotencyKey) => api.post('/api/v1/broadcasts', { body, idempotencyKey }),
    ({ data }) => {
      invalidate(scope, '/api/v1/broadcasts');
      onClose();
      onCreated(data);
    },
  );
  const submit = () => void create.submit({ name: name.trim() });
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('newBroadcast')}
      intro={t('createIntro')}
      keep={name !== ''}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" busy={create.busy} onClick={submit}>
            {t('create')}
          </Button>
        </>
      }
    >
      <Form label={t('newBroadcast')} problem={isPlanLimit(create.error) ? null : describe(create.error)} onSubmit={submit}>
        <PlanLimit error={create.error} />
        <Field label={t('name')} pointer="/name">
          <Input
            autoFocus
            maxLength={200}
            placeholder={t('namePlaceholder')}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
      </Form>
    </Dialog>
  );
}
