import { useState } from 'react';
import { formatDay } from '@/lib/intl';
import { useApi } from '@/lib/services';
import { Avatar } from '@/ui/avatar';
import { Button } from '@/ui/button';
import { Icon } from '@/ui/icon';
import { Menu } from '@/ui/menu';
import { Badge } from '@/ui/status';
import { Time } from '@/ui/time';
import { useAct } from '../mail/act';
import { MailFrame } from '../mail/mailframe';
import { formatSize } from '../mail/size';
import { t } from './messages';
import { classes, classTones, classWord, senderOf, type Message } from './words';
import styles from './inbox.module.css';

/** MessageView shows one mail: the answer alone, the whole text, or as it was formatted. */
export function MessageView({ message, mayEdit }: { message: Message; mayEdit: boolean }) {
  const [view, setView] = useState<'answer' | 'text' | 'html'>(message.reply_text === '' ? 'text' : 'answer');
  const sender = senderOf(message);
  const hasMore = message.reply_text !== '' && message.reply_text.trim() !== message.text.trim();
  return (
    <article className={styles.message} aria-label={`${sender}, ${formatDay(message.received_at)}`}>
      <header className={styles.from}>
        <Avatar name={message.direction === 'out' ? message.from || sender : sender} />
        <div className={styles.names}>
          <strong>{sender}</strong>
          <span className="meta">
            {message.direction === 'in' && message.from_name !== '' ? message.from : t('to', { names: message.to.join(', ') })}
          </span>
        </div>
        {message.class !== null && <ClassMenu message={message} mayEdit={mayEdit} />}
        <span className="meta">
          <Time at={message.received_at} />
        </span>
      </header>
      {message.back_on !== null && <p className="meta">{t('backOn', { day: formatDay(message.back_on) })}</p>}
      {message.diagnostic !== null && <p className={styles.diagnostic}>{message.diagnostic}</p>}
      {view === 'html' && message.html !== null ? (
        <MailFrame html={message.html} title={t('frame', { name: sender })} />
      ) : (
        <p className={styles.text}>
          {(view === 'answer' ? message.reply_text : message.text) || t('noText')}
        </p>
      )}
      {message.attachments.length > 0 && (
        <ul className={styles.files} aria-label={t('attachmentsNote')}>
          {message.attachments.map((file, i) => (
            <li key={i}>
              <Icon name="note" size={14} />
              {t('attachment', { name: file.name, size: formatSize(file.size) })}
            </li>
          ))}
        </ul>
      )}
      {(hasMore || message.html !== null) && (
        <div className={styles.views}>
          {hasMore && view !== 'text' && (
            <Button size="small" kind="quiet" onClick={() => setView('text')}>
              {t('whole')}
            </Button>
          )}
          {hasMore && view !== 'answer' && (
            <Button size="small" kind="quiet" onClick={() => setView('answer')}>
              {t('short')}
            </Button>
          )}
          {message.html !== null && (
            <Button size="small" kind="quiet" onClick={() => setView(view === 'html' ? 'text' : 'html')}>
              {view === 'html' ? t('plain') : t('formatted')}
            </Button>
          )}
        </div>
      )}
    </article>
  );
}

/** ClassMenu shows what an incoming mail is taken for, and corrects it. */
function ClassMenu({ message, mayEdit }: { message: Message; mayEdit: boolean }) {
  const api = useApi();
  const { run } = useAct('/api/v1/crm/threads', '/api/v1/crm/messages/{id}', '/api/v1/suppressions');
  const { class: now, class_by: by } = message;
  if (now === null) return null;
  const correct = (to: typeof now) =>
    void run(
      'class',
      (idempotencyKey) =>
        api.patch('/api/v1/crm/messages/{id}', { path: { id: message.id }, body: { class: to }, idempotencyKey }),
      { title: t('corrected') },
    );
  const waits = message.sure === false;
  const badge = <Badge tone={waits ? 'warn' : classTones[now]}>{waits ? `${classWord(now)}?` : classWord(now)}</Badge>;
  if (!mayEdit) return badge;
  return (
    <Menu
      align="end"
      trigger={
        <button type="button" className={styles.class} aria-label={`${t('classOf')} ${classWord(now)}`}>
          {badge}
          <Icon name="down" size={12} />
        </button>
      }
      items={[
        `${t('classOf')}${by === null ? '' : ` (${t(`by_${by}`)})`}`,
        ...classes.map((one) => ({
          label: one === now && waits ? t('confirmClass', { name: classWord(one) }) : classWord(one),
          checked: one === now,
          onSelect: () => {
            if (one !== now || waits) correct(one);
          },
        })),
      ]}
    />
  );
}
