import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { randomId } from '@/lib/random';
import { invalidate, useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button, buttonLook, IconButton } from '@/ui/button';
import { Skeleton } from '@/ui/feedback';
import { useAct } from '../mail/act';
import { ContactName } from '../mail/contactname';
import mail from '../mail/mail.module.css';
import { MessageView } from './message';
import { t } from './messages';
import { Reply } from './reply';
import { answered, type Conversation } from './words';
import styles from './inbox.module.css';

/** ThreadPage shows one conversation, oldest mail first, with the answer below it. */
export function ThreadPage() {
  const { id } = useParams({ from: '/app/inbox/$id' });
  const read = useRead('/api/v1/crm/threads/{id}', { path: { id } });
  if (read.error !== null && read.data === undefined) return <Failure error={read.error} again={read.again} />;
  if (read.data === undefined) {
    return (
      <div className={styles.messages}>
        <Skeleton width="40%" />
        <Skeleton width="90%" />
        <Skeleton width="80%" />
      </div>
    );
  }
  return <Thread key={id} thread={read.data} />;
}

function Thread({ thread }: { thread: Conversation }) {
  const mayEdit = useMay('member');
  const navigate = useNavigate();
  const search = useSearch({ from: '/app/inbox' });
  const api = useApi();
  const [asked, setAsked] = useState(0);
  const reply = () => setAsked((count) => count + 1);
  const { run } = useAct('/api/v1/crm/threads');
  const close = () => void navigate({ to: '/app/inbox', search });
  useReading(thread, mayEdit);
  const markUnread = () =>
    void run(
      'unread',
      (idempotencyKey) =>
        api.patch('/api/v1/crm/threads/{id}', { path: { id: thread.id }, body: { unread: true }, idempotencyKey }),
      { title: t('markedUnread') },
    ).then((done) => done && close());
  useCommands([
    { id: 'thread.close', label: t('back'), keys: 'esc', keyOnly: true, run: close },
    ...(mayEdit
      ? [
          { id: 'thread.reply', label: t('reply'), icon: 'mail' as const, keys: 'r', run: reply },
          { id: 'thread.unread', label: t('markUnread'), icon: 'eye' as const, keys: 'u', run: markUnread },
        ]
      : []),
  ]);
  const latest = answered(thread.messages);
  return (
    <section className={styles.thread} aria-label={t('thread')}>
      <header className={styles.head}>
        <span className={styles.backButton}>
          <IconButton icon="left" label={t('back')} onClick={close} />
        </span>
        <div className={styles.subject}>
          <h2>{thread.subject}</h2>
          <p className="meta">
            {thread.contact_id === null ? t('noContact') : <ContactName id={thread.contact_id} />}
            {' · '}
            {t('messagesCount', { count: thread.message_count })}
          </p>
        </div>
        {thread.contact_id !== null && (
          <Link
            to="/app/contacts/$id"
            params={{ id: thread.contact_id }}
            className={buttonLook({ size: 'small' })}
          >
            {t('openContact')}
          </Link>
        )}
        {mayEdit && (
          <Button size="small" kind="quiet" onClick={markUnread}>
            {t('markUnread')}
          </Button>
        )}
      </header>
      <div className={styles.messages}>
        {thread.messages.map((message) => (
          <MessageView key={message.id} message={message} mayEdit={mayEdit} />
        ))}
        {mayEdit && (
          <Reply thread={thread} to={latest} asked={asked} onAsk={reply} onClose={() => setAsked(0)} />
        )}
        {!mayEdit && latest === undefined && <p className={mail.help}>{t('noText')}</p>}
      </div>
    </section>
  );
}

/** useReading marks a conversation as read once it is opened, not again when it was marked as unread meanwhile. */
function useReading(thread: Conversation, mayEdit: boolean): void {
  const api = useApi();
  const scope = useScope();
  const done = useRef(false);
  const { id, unread } = thread;
  useEffect(() => {
    if (!unread || !mayEdit || done.current) return;
    done.current = true;
    api
      .patch('/api/v1/crm/threads/{id}', { path: { id }, body: { unread: false }, idempotencyKey: randomId() })
      .then(() => invalidate(scope, '/api/v1/crm/threads'))
      .catch(() => {}); // it stays unread, which the list shows
  }, [api, scope, id, unread, mayEdit]);
}
