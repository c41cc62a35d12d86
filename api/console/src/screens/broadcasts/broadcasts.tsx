import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { describe } from '@/lib/describe';
import { formatNumber } from '@/lib/intl';
import { invalidate, useList } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Select } from '@/ui/select';
import { Status as StatusDot } from '@/ui/status';
import type { Column } from '@/ui/table';
import { Time } from '@/ui/time';
import styles from '../list/list.module.css';
import { ListScreen } from '../list/listscreen';
import { useAct } from '../mail/act';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { t } from './messages';
import { isUnderWay, tones, type Broadcast, type Status } from './words';

const columns: readonly Column<Broadcast>[] = [
  {
    key: 'name',
    title: t('name'),
    cell: (one) => (
      <span className={styles.two}>
        <span className={styles.cut}>{one.name}</span>
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

const statuses: readonly Status[] = ['draft', 'scheduled', 'preparing', 'sending', 'held', 'paused', 'sent', 'cancelled'];
const filters = [{ value: 'any', label: t('any') }, ...statuses.map((value) => ({ value, label: t(value) }))] as const;

/** Broadcasts lists the mails to many. */
export function Broadcasts() {
  const { status } = useSearch({ from: '/app/broadcasts' });
  const list = useList('/api/v1/broadcasts', { query: { count: 'exact', ...(status !== undefined && { status }) } });
  const { org, role } = useScope();
  const mayEdit = useMay('member');
  const navigate = useNavigate();
  const api = useApi();
  const [creating, setCreating] = useState(false);
  const { run } = useAct('/api/v1/broadcasts');
  const open = (one: Pick<Broadcast, 'id'>) => void navigate({ to: '/app/broadcasts/$id', params: { id: one.id } });
  const archive = (one: Broadcast) =>
    void run('archive', () => api.delete('/api/v1/broadcasts/{id}', { path: { id: one.id } }), {
      title: t('archivedToast'),
      onUndo: () =>
        void run(
          'restore',
          (idempotencyKey) => api.post('/api/v1/broadcasts/{id}/restore', { path: { id: one.id }, idempotencyKey }),
          { title: t('restored') },
        ),
    });
  const choose = (value: (typeof filters)[number]['value']) =>
    void navigate({ to: '/app/broadcasts', search: value === 'any' ? {} : { status: value } });
  return (
    <ListScreen
      name="broadcasts"
      title={t('title')}
      one="broadcast"
      list={list}
      columns={columns}
      href={(one) => `/app/broadcasts/${one.id}`}
      onOpen={open}
      twoLines
      {...(mayEdit
        ? {
            create: { label: t('newBroadcast'), command: t('create'), run: () => setCreating(true) },
            actions: (one: Broadcast) =>
              isUnderWay(one) || one.status === 'scheduled'
                ? []
                : [{ label: t('archive'), icon: 'archive' as const, danger: true, onSelect: () => archive(one) }],
          }
        : { note: t('mayNot', { org: org.name, role }) })}
      filter={
        <span>
          <Select label={t('status')} size="small" value={status ?? 'any'} options={filters} onChange={choose} />
        </span>
      }
      filtered={
        status === undefined ? undefined : { title: t('noneMatch'), action: t('showAll'), clear: () => choose('any') }
      }
      empty={{
        icon: 'broadcasts',
        title: t('empty'),
        text: t('emptyText'),
        guide: { label: t('guide'), href: '/docs/guides/email' },
      }}
    >
      {creating && <CreateDialog onClose={() => setCreating(false)} onCreated={open} />}
    </ListScreen>
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
