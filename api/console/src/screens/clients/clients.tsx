import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { formatNumber } from '@/lib/intl';
import { useList, type Row } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useServices } from '@/lib/services';
import { Avatar } from '@/ui/avatar';
import { Button } from '@/ui/button';
import { Callout, EmptyState } from '@/ui/feedback';
import type { MenuEntry } from '@/ui/menu';
import { PageHead } from '@/ui/page';
import { Status } from '@/ui/status';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { report } from '../record/report';
import { useClientActions } from './actions';
import { CreateClient } from './create';
import { DetachClient, PauseClient } from './confirm';
import { EditClient } from './edit';
import { t } from './messages';
import styles from './clients.module.css';

export type Client = Row<'/api/v1/orgs/clients'>;

type Act = { kind: 'create' } | { kind: 'edit' | 'pause' | 'detach'; client: Client };

/** Clients lists the client organizations of an agency. */
export function Clients() {
  const { org, role, staff } = useScope();
  const isAdmin = useMay('admin');
  if (isAdmin && !staff) return <ClientList />;
  return (
    <div className={styles.page}>
      <PageHead title={t('title')} />
      <div className={styles.note}>
        <Callout>{staff ? t('staff', { org: org.name }) : t('admins', { org: org.name, role })}</Callout>
      </div>
    </div>
  );
}

function ClientList() {
  const list = useList('/api/v1/orgs/clients', { query: { count: 'exact' } });
  const isOwner = useMay('owner');
  const table = useRef<TableHandle>(null);
  const [act, setAct] = useState<Act | null>(null);
  const enter = useEnter();
  const { resume } = useClientActions();
  const close = () => setAct(null);
  useCommands([
    { id: 'clients.create', label: t('create'), icon: 'plus', keys: 'c', run: () => setAct({ kind: 'create' }) },
    { id: 'clients.down', label: t('next'), keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'clients.up', label: t('previous'), keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  const actions = (client: Client): MenuEntry[] => [
    { label: t('actIn'), icon: 'right', onSelect: () => void enter(client) },
    { label: t('edit'), icon: 'edit', onSelect: () => setAct({ kind: 'edit', client }) },
    null,
    client.status === 'paused'
      ? { label: t('resume'), icon: 'play', onSelect: () => void resume(client) }
      : { label: t('pause'), icon: 'pause', onSelect: () => setAct({ kind: 'pause', client }) },
    ...(isOwner
      ? [
          {
            label: t('detach'),
            icon: 'signout' as const,
            danger: true,
            onSelect: () => setAct({ kind: 'detach', client }),
          },
        ]
      : []),
  ];
  const isEmpty = list.complete && list.length === 0;
  const button = (
    <Button kind="primary" size="small" icon="plus" onClick={() => setAct({ kind: 'create' })}>
      {t('create')}
    </Button>
  );
  const columns: readonly Column<Client>[] = [
    {
      key: 'name',
      title: t('name'),
      cell: (client) => (
        <span className={styles.name}>
          <Avatar name={client.name} square />
          <span className={styles.cut}>{client.name}</span>
        </span>
      ),
    },
    { key: 'state', title: t('state'), width: 128, wide: true, cell: (client) => <State client={client} /> },
    { key: 'added', title: t('added'), width: 112, wide: true, cell: (client) => <Time at={client.created_at} /> },
    {
      key: 'act',
      title: t('actIn'),
      width: 88,
      cell: (client) => (
        <Button size="small" aria-label={t('actInOf', { name: client.name })} onClick={() => void enter(client)}>
          {t('actIn')}
        </Button>
      ),
    },
  ];
  return (
    <div className={styles.page}>
      <PageHead title={t('title')} count={list.total === null || isEmpty ? undefined : formatNumber(list.total)}>
        {!isEmpty && button}
      </PageHead>
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : isEmpty ? (
        <div className={styles.center}>
          <EmptyState
            icon="building"
            title={t('empty')}
            action={button}
            guide={{ label: t('guide'), href: '/docs/guides/white-label#create-client-organizations' }}
          >
            {t('emptyText')}
          </EmptyState>
        </div>
      ) : (
        <Table
          ref={table}
          label={t('title')}
          columns={columns}
          rows={list}
          rowKey={(client) => client.id}
          onOpen={(client) => setAct({ kind: 'edit', client })}
          actions={actions}
          phone={(client) => t(client.status)}
          loading={list.pending}
        />
      )}
      {act?.kind === 'create' && <CreateClient onClose={close} />}
      {act?.kind === 'edit' && <EditClient id={act.client.id} onClose={close} />}
      {act?.kind === 'pause' && <PauseClient client={act.client} onClose={close} />}
      {act?.kind === 'detach' && <DetachClient client={act.client} onClose={close} />}
    </div>
  );
}

function State({ client }: { client: Client }) {
  return <Status tone={client.status === 'active' ? 'good' : 'warn'}>{t(client.status)}</Status>;
}

/** useEnter returns a function that acts in a client org: the coloured bar then says so, and leads back. */
function useEnter(): (client: Client) => Promise<void> {
  const { actions } = useServices();
  const navigate = useNavigate();
  return async (client) => {
    try {
      await actions.enterClient(client.id);
      await navigate({ to: '/app' });
    } catch (error) {
      report(t('notEntered', { name: client.name }), error);
    }
  };
}
