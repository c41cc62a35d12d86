import { useEffect, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { formatDay } from '@/lib/intl';
import { invalidate, useList, useRead, type Row } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi, useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import { useSubmit } from '@/lib/submit';
import { Avatar } from '@/ui/avatar';
import { Button } from '@/ui/button';
import type { MenuEntry } from '@/ui/menu';
import { PageHead } from '@/ui/page';
import { Badge, Status } from '@/ui/status';
import { Table, type Column } from '@/ui/table';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { InviteDialog } from './invite';
import { t } from './messages';
import { RemoveDialog } from './remove';
import { RoleDialog } from './role';
import styles from './members.module.css';

export type Member = Row<'/api/v1/members'>;

/** nameOf returns how a member is called. Somebody who is invited has an address only. */
export function nameOf(member: Member): string {
  return `${member.first_name} ${member.last_name}`.trim() || member.email;
}

type Act = { kind: 'invite'; email?: string; role?: Member['role'] } | { kind: 'role' | 'remove'; member: Member };

/** Members lists who belongs to the org and who is invited. */
export function Members() {
  const members = useList('/api/v1/members', { query: { count: 'exact' } });
  const [act, setAct] = useState<Act | null>(null);
  const { session } = useServices();
  const { grant } = useStore(session.state);
  const isOwner = useMay('owner', 'members');
  const withdraw = useWithdraw();
  const close = () => setAct(null);
  useCommands([{ id: 'members.invite', label: t('invite'), icon: 'plus', keys: 'c', run: () => setAct({ kind: 'invite' }) }]);

  const columns: Column<Member>[] = [
    { key: 'person', title: t('person'), cell: (member) => <Person member={member} own={member.id === grant?.user.id} /> },
    { key: 'role', title: t('role'), width: 104, cell: (member) => t(member.role) },
    { key: 'state', title: t('state'), width: 200, wide: true, cell: (member) => <State member={member} /> },
    { key: 'since', title: t('since'), width: 120, wide: true, end: true, cell: (member) => <Time at={member.created_at} /> },
  ];
  const actions = (member: Member): MenuEntry[] => {
    const mayChange = isOwner || member.role !== 'owner';
    if (member.status === 'invited') {
      return [
        { label: t('inviteAgain'), icon: 'mail', onSelect: () => setAct({ kind: 'invite', email: member.email, role: member.role }) },
        null,
        { label: t('withdraw'), icon: 'trash', danger: true, onSelect: () => void withdraw.submit(member) },
      ];
    }
    return [
      { label: t('changeRole'), icon: 'user', disabled: !mayChange, onSelect: () => setAct({ kind: 'role', member }) },
      null,
      { label: t('remove'), icon: 'trash', danger: true, disabled: !mayChange, onSelect: () => setAct({ kind: 'remove', member }) },
    ];
  };
  return (
    <div className={styles.page}>
      <PageHead title={t('title')} count={<Used />}>
        <Button kind="primary" size="small" icon="plus" onClick={() => setAct({ kind: 'invite' })}>
          {t('invite')}
        </Button>
      </PageHead>
      {members.error !== null && members.length === 0 ? (
        <Failure error={members.error} again={() => members.pages.retry()} />
      ) : (
        <Table
          label={t('title')}
          columns={columns}
          rows={members}
          rowKey={(member) => member.id}
          twoLines
          loading={members.pending}
          onOpen={(member) => member.status === 'active' && (isOwner || member.role !== 'owner') && setAct({ kind: 'role', member })}
          actions={actions}
        />
      )}
      {act?.kind === 'invite' && <InviteDialog {...(act.email && act.role && { again: { email: act.email, role: act.role } })} onClose={close} />}
      {act?.kind === 'role' && <RoleDialog member={act.member} onClose={close} />}
      {act?.kind === 'remove' && <RemoveDialog member={act.member} own={act.member.id === grant?.user.id} onClose={close} />}
    </div>
  );
}

/** Used is how many of the plan's members there are. */
function Used() {
  const { data } = useRead('/billing/my-entitlements');
  const members = data?.features['members'];
  if (members?.used === undefined) return null;
  if (typeof members.value !== 'number') return <>{members.used}</>;
  return <>{t('count', { used: members.used, max: members.value })}</>;
}

function Person({ member, own }: { member: Member; own: boolean }) {
  const name = nameOf(member);
  return (
    <span className={styles.person}>
      <Avatar name={name} size="medium" />
      <span className={styles.who}>
        <span className={styles.name}>
          <span className={styles.cut}>{name}</span>
          {own && <Badge>{t('you')}</Badge>}
          {member.status === 'invited' && (
            <span className={styles.phoneOnly}>
              <Badge tone="warn">{t('invited')}</Badge>
            </span>
          )}
        </span>
        {name !== member.email && <span className={styles.email}>{member.email}</span>}
      </span>
    </span>
  );
}

function State({ member }: { member: Member }) {
  if (member.status === 'active') return <Status tone="good">{t('active')}</Status>;
  if (member.expires_at !== null && Date.parse(member.expires_at) < Date.now()) {
    return <Status tone="off">{t('expired')}</Status>;
  }
  return (
    <Status tone="warn">
      {t('invited')}
      {member.expires_at !== null && <span className={styles.email}> {t('until', { date: formatDay(member.expires_at) })}</span>}
    </Status>
  );
}

/** useWithdraw ends an invitation. It can be made again, so it needs no question. */
function useWithdraw() {
  const api = useApi();
  const scope = useScope();
  const invite = useSubmit(
    ({ email, role }: Member, idempotencyKey) => api.post('/api/v1/members', { body: { email, role }, idempotencyKey }),
    () => invalidate(scope, '/api/v1/members', '/billing/my-entitlements'),
  );
  const withdraw = useSubmit(
    (member: Member) => api.delete('/api/v1/members/{id}', { path: { id: member.id } }),
    (_, member) => {
      invalidate(scope, '/api/v1/members', '/billing/my-entitlements');
      toast({
        title: t('withdrawn', { email: member.email }),
        action: { label: t('inviteAgain'), onClick: () => void invite.submit(member) },
      });
    },
  );
  useEffect(() => {
    const failure = describe(withdraw.error ?? invite.error);
    if (failure) toast({ kind: 'bad', title: t('failed'), detail: failure.detail, requestId: failure.request_id ?? '' });
  }, [withdraw.error, invite.error]);
  return withdraw;
}
