import { Link, useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { useList } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { buttonLook } from '@/ui/button';
import { ConfirmDialog } from '@/ui/dialog';
import { EmptyState } from '@/ui/feedback';
import { Icon } from '@/ui/icon';
import { PageHead } from '@/ui/page';
import { Status } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { useWebhookActions } from './actions';
import { t } from './messages';
import { Health } from './strip';
import { TestDialog } from './test';
import { eventsWord, nameOf, webhookStatus, type Webhook } from './words';
import styles from './webhooks.module.css';

const columns: readonly Column<Webhook>[] = [
  {
    key: 'endpoint',
    title: t('endpoint'),
    cell: (hook) => (
      <span className={styles.two}>
        <span className={styles.url}>{nameOf(hook.url)}</span>
        {hook.description && <span className={styles.second}>{hook.description}</span>}
      </span>
    ),
  },
  {
    key: 'status',
    title: t('status'),
    width: 136,
    cell: (hook) => <Status tone={webhookStatus(hook).tone}>{webhookStatus(hook).word}</Status>,
  },
  { key: 'events', title: t('events'), width: 132, wide: true, cell: (hook) => eventsWord(hook.events) },
  { key: 'week', title: t('week'), width: 196, wide: true, cell: (hook) => <Health id={hook.id} /> },
];

const path = '/app/settings/integrations/webhooks';

/** Webhooks lists the org's endpoints. */
export function Webhooks() {
  const list = useList('/api/v1/webhooks', { query: { count: 'exact' } });
  const { org, role } = useScope();
  const isAdmin = useMay('admin');
  const navigate = useNavigate();
  const table = useRef<TableHandle>(null);
  const [testing, setTesting] = useState<Webhook | null>(null);
  const [archiving, setArchiving] = useState<Webhook | null>(null);
  const { setEnabled, archive } = useWebhookActions((id, change) =>
    list.pages.change((hook) => (hook.id === id ? { ...hook, ...change } : undefined)),
  );
  const create = () => void navigate({ to: `${path}/new` });
  useCommands([
    { id: 'webhooks.down', label: 'Next webhook', keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'webhooks.up', label: 'Previous webhook', keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
    ...(isAdmin
      ? [{ id: 'webhooks.create', label: t('create'), icon: 'plus' as const, keys: 'c', run: create }]
      : []),
  ]);
  const actions = (hook: Webhook) => [
    { label: t('open'), icon: 'right' as const, onSelect: () => open(hook) },
    { label: t('copyUrl'), icon: 'copy' as const, onSelect: () => void navigator.clipboard.writeText(hook.url) },
    ...(isAdmin
      ? [
          null,
          { label: t('sendTest'), icon: 'bolt' as const, onSelect: () => setTesting(hook) },
          {
            label: hook.enabled ? t('disable') : t('enable'),
            icon: hook.enabled ? ('pause' as const) : ('play' as const),
            onSelect: () => void setEnabled(hook, !hook.enabled),
          },
          null,
          { label: t('archive'), icon: 'archive' as const, danger: true, onSelect: () => setArchiving(hook) },
        ]
      : []),
  ];
  const open = (hook: Webhook) => void navigate({ to: `${path}/$id`, params: { id: hook.id } });
  const newLink = (
    <Link to={`${path}/new`} className={buttonLook({ kind: 'primary', size: 'small' })}>
      <Icon name="plus" />
      {t('newWebhook')}
    </Link>
  );
  const isEmpty = list.complete && list.length === 0;
  return (
    <>
      <PageHead title={t('title')} count={list.total ?? undefined}>
        {isAdmin && !isEmpty && newLink}
      </PageHead>
      {!isAdmin && <p className={styles.note}>{t('admins', { org: org.name, role })}</p>}
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : isEmpty ? (
        <EmptyState
          icon="webhook"
          title={t('empty')}
          action={isAdmin ? newLink : undefined}
          guide={{ label: t('guide'), href: '/docs/webhooks' }}
        >
          {t('emptyText')}
        </EmptyState>
      ) : (
        <Table
          ref={table}
          label={t('title')}
          columns={columns}
          rows={list}
          rowKey={(hook) => hook.id}
          href={(hook) => `${path}/${hook.id}`}
          onOpen={open}
          actions={actions}
          phone={(hook) => eventsWord(hook.events)}
          loading={list.pending}
          twoLines
        />
      )}
      {testing && <TestDialog hook={testing} onClose={() => setTesting(null)} />}
      <ConfirmDialog
        open={archiving !== null}
        onClose={() => setArchiving(null)}
        title={t('archiveTitle', { name: nameOf(archiving?.url ?? '') })}
        consequence={t('archiveText')}
        action={t('archive')}
        onConfirm={() => {
          if (archiving !== null) void archive(archiving);
          setArchiving(null);
        }}
      />
    </>
  );
}
