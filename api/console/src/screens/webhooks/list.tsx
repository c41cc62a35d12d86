import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useList } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { ConfirmDialog } from '@/ui/dialog';
import { Status } from '@/ui/status';
import type { Column } from '@/ui/table';
import styles from '../list/list.module.css';
import { ListScreen } from '../list/listscreen';
import { useWebhookActions } from './actions';
import { t } from './messages';
import { Health } from './strip';
import { TestDialog } from './test';
import { eventsWord, nameOf, webhookStatus, type Webhook } from './words';

const columns: readonly Column<Webhook>[] = [
  {
    key: 'endpoint',
    title: t('endpoint'),
    cell: (hook) => (
      <span className={styles.two}>
        <span className={styles.cut}>{nameOf(hook.url)}</span>
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
  const [testing, setTesting] = useState<Webhook | null>(null);
  const [archiving, setArchiving] = useState<Webhook | null>(null);
  const { setEnabled, archive } = useWebhookActions((id, change) =>
    list.pages.change((hook) => (hook.id === id ? { ...hook, ...change } : undefined)),
  );
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
  return (
    <ListScreen
      name="webhooks"
      title={t('title')}
      one="webhook"
      list={list}
      columns={columns}
      href={(hook) => `${path}/${hook.id}`}
      onOpen={open}
      actions={actions}
      phone={(hook) => eventsWord(hook.events)}
      twoLines
      {...(isAdmin
        ? {
            create: {
              label: t('newWebhook'),
              command: t('create'),
              href: `${path}/new`,
              run: () => void navigate({ to: `${path}/new` }),
            },
          }
        : { note: t('admins', { org: org.name, role }) })}
      empty={{
        icon: 'webhook',
        title: t('empty'),
        text: t('emptyText'),
        guide: { label: t('guide'), href: '/docs/webhooks' },
      }}
    >
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
    </ListScreen>
  );
}
