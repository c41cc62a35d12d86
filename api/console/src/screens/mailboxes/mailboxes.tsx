import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { formatNumber } from '@/lib/intl';
import { useList } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { ConfirmDialog } from '@/ui/dialog';
import type { MenuEntry } from '@/ui/menu';
import { Status } from '@/ui/status';
import type { Column } from '@/ui/table';
import { Tooltip } from '@/ui/tooltip';
import styles from '../list/list.module.css';
import { ListScreen } from '../list/listscreen';
import { mayResume, useMailboxActions } from './actions';
import { t } from './messages';
import { limits, mailboxName, mailboxStatus, rateText, rateTone, stateText, type Mailbox } from './words';

const path = '/app/settings/mailboxes';

function State({ one }: { one: Mailbox }) {
  const { tone, word } = mailboxStatus(one);
  const why = stateText(one);
  const status = <Status tone={tone}>{word}</Status>;
  return why === undefined ? status : <Tooltip text={why}><span>{status}</span></Tooltip>;
}

function Rate({ rate, kind }: { rate: number | null; kind: 'bounce' | 'complaint' }) {
  const text = rateText(rate);
  if (text === undefined) return <span className="meta">{t('none')}</span>;
  return <Status tone={rateTone(rate, limits[kind].warn, limits[kind].bad)}>{text}</Status>;
}

const columns: readonly Column<Mailbox>[] = [
  {
    key: 'address',
    title: t('address'),
    cell: (one) => (
      <span className={styles.two}>
        <span className={styles.cut}>{mailboxName(one)}</span>
        <span className={styles.second}>
          {mailboxName(one) === one.from_email ? t(one.kind) : `${one.from_email} · ${t(one.kind)}`}
        </span>
      </span>
    ),
  },
  { key: 'status', title: t('status'), width: 120, cell: (one) => <State one={one} /> },
  {
    key: 'bounces',
    title: t('bounces'),
    width: 112,
    wide: true,
    cell: (one) => <Rate rate={one.health.bounce_rate} kind="bounce" />,
  },
  {
    key: 'complaints',
    title: t('complaints'),
    width: 112,
    wide: true,
    cell: (one) => <Rate rate={one.health.complaint_rate} kind="complaint" />,
  },
  {
    key: 'sent',
    title: t('sent'),
    width: 128,
    end: true,
    wide: true,
    cell: (one) =>
      one.daily_cap === null
        ? formatNumber(one.sent_24h)
        : t('sentOf', { count: one.sent_24h, cap: one.daily_cap }),
  },
];

/** Mailboxes lists the mailboxes that the org sends from. */
export function Mailboxes() {
  const list = useList('/api/v1/mailboxes', { query: { count: 'exact' } });
  const { org, role } = useScope();
  const isAdmin = useMay('admin');
  const navigate = useNavigate();
  const [archiving, setArchiving] = useState<Mailbox | null>(null);
  const { test, hold, resume, archive } = useMailboxActions();
  const open = (one: Mailbox) => void navigate({ to: `${path}/$id`, params: { id: one.id } });
  const actions = (one: Mailbox): MenuEntry[] => [
    { label: t('open'), icon: 'right', onSelect: () => open(one) },
    { label: t('copyAddress'), icon: 'copy', onSelect: () => void navigator.clipboard.writeText(one.from_email) },
    ...(isAdmin
      ? [
          null,
          { label: t('test'), icon: 'bolt' as const, onSelect: () => void test(one) },
          ...(mayResume(one)
            ? [{ label: t('resume'), icon: 'play' as const, onSelect: () => void resume(one) }]
            : []),
          ...(one.status === 'active'
            ? [{ label: t('hold'), icon: 'pause' as const, onSelect: () => void hold(one) }]
            : []),
          null,
          { label: t('archive'), icon: 'archive' as const, danger: true, onSelect: () => setArchiving(one) },
        ]
      : []),
  ];
  return (
    <ListScreen
      name="mailboxes"
      title={t('title')}
      one="mailbox"
      list={list}
      columns={columns}
      href={(one) => `${path}/${one.id}`}
      onOpen={open}
      actions={actions}
      twoLines
      {...(isAdmin
        ? {
            create: {
              label: t('newMailbox'),
              command: t('create'),
              href: `${path}/new`,
              run: () => void navigate({ to: `${path}/new` }),
            },
          }
        : { note: t('admins', { org: org.name, role }) })}
      empty={{
        icon: 'mail',
        title: t('empty'),
        text: t('emptyText'),
        guide: { label: t('guide'), href: '/docs/guides/email' },
      }}
    >
      <ConfirmDialog
        open={archiving !== null}
        onClose={() => setArchiving(null)}
        title={t('archiveTitle', { name: archiving === null ? '' : mailboxName(archiving) })}
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
