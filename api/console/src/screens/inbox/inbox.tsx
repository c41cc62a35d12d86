import { Link, Outlet, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useRef } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { useList, type Row } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { Button, buttonLook } from '@/ui/button';
import { cx } from '@/ui/cx';
import { EmptyState } from '@/ui/feedback';
import { PageHead } from '@/ui/page';
import { Select } from '@/ui/select';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { Toolbar } from '@/ui/toolbar';
import { useMailboxes } from '../mail/choices';
import mail from '../mail/mail.module.css';
import { t } from './messages';
import type { InboxSearch } from './routes';
import styles from './inbox.module.css';

type Thread = Row<'/api/v1/crm/threads'>;

const columns: readonly Column<Thread>[] = [
  {
    key: 'thread',
    title: t('thread'),
    cell: (one) => (
      <span className={mail.two}>
        <span className={cx(mail.first, one.unread ? styles.unread : styles.read)}>
          {one.unread && <span className={styles.dot} role="img" aria-label={t('unread')} />}
          {one.contact_name ?? t('noContact')}
        </span>
        <span className={mail.second}>{one.subject}</span>
      </span>
    ),
  },
  { key: 'at', title: t('lastAt'), width: 96, end: true, cell: (one) => <Time at={one.last_message_at} /> },
];

/** Inbox lists the conversations with incoming mail; the chosen one is beside the list. */
export function Inbox() {
  const search = useSearch({ from: '/app/inbox' });
  const { id } = useParams({ strict: false });
  const list = useList('/api/v1/crm/threads', {
    query: {
      count: 'exact',
      ...(search.show !== 'all' && { unread: 'true' }),
      ...(search.mailbox !== undefined && { mailbox_id: search.mailbox }),
    },
  });
  const mailboxes = useMailboxes();
  const isAdmin = useMay('admin');
  const navigate = useNavigate();
  const table = useRef<TableHandle>(null);
  useCommands([
    { id: 'inbox.down', label: 'Next conversation', keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'inbox.up', label: 'Previous conversation', keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  const change = (to: InboxSearch) => void navigate({ to: '.', search: to });
  const open = (one: Thread) => void navigate({ to: '/app/inbox/$id', params: { id: one.id }, search });
  const isEmpty = list.complete && list.length === 0;
  const isAll = search.show === 'all';
  return (
    <div className={cx(styles.inbox, id !== undefined && styles.reading)}>
      <div className={styles.list}>
        <PageHead title={t('title')} count={list.total ?? undefined} />
        <Toolbar>
          <span>
            <Select
              label={t('show')}
              size="small"
              value={isAll ? 'all' : 'unread'}
              options={[
                { value: 'unread', label: t('unread') },
                { value: 'all', label: t('all') },
              ]}
              onChange={(show) => {
                const { show: _, ...rest } = search;
                change(show === 'all' ? { ...rest, show } : rest);
              }}
            />
          </span>
          {mailboxes.options.length > 1 && (
            <span>
              <Select
                label={t('mailbox')}
                size="small"
                value={search.mailbox ?? ''}
                options={[{ value: '', label: t('anyMailbox') }, ...mailboxes.options]}
                onChange={(mailbox) => {
                  const { mailbox: _, ...rest } = search;
                  change(mailbox === '' ? rest : { ...rest, mailbox });
                }}
              />
            </span>
          )}
        </Toolbar>
        {list.error !== null && list.pending ? (
          <Failure error={list.error} again={() => list.pages.retry()} />
        ) : isEmpty && isAll ? (
          <EmptyState
            icon="inbox"
            title={t('empty')}
            action={
              <Link
                to={isAdmin ? '/app/settings/mailboxes/new' : '/app/settings/mailboxes'}
                className={buttonLook({ kind: 'primary', size: 'small' })}
              >
                {isAdmin ? t('connect') : t('seeMailboxes')}
              </Link>
            }
            guide={{ label: t('guide'), href: '/docs/guides/email' }}
          >
            {t('emptyText')}
          </EmptyState>
        ) : isEmpty ? (
          <EmptyState
            icon="check"
            title={t('nothingUnread')}
            action={
              <Button size="small" onClick={() => change({ ...search, show: 'all' })}>
                {t('showAll')}
              </Button>
            }
            guide={{ label: t('guide'), href: '/docs/guides/email' }}
          />
        ) : (
          <Table
            ref={table}
            label={t('title')}
            columns={columns}
            rows={list}
            rowKey={(one) => one.id}
            href={(one) => `/app/inbox/${one.id}`}
            onOpen={open}
            current={id}
            loading={list.pending}
            twoLines
          />
        )}
      </div>
      <div className={styles.beside}>
        {id === undefined ? <p className={styles.pick}>{t('pick')}</p> : <Outlet />}
      </div>
    </div>
  );
}
