import { Button } from '@/ui/button';
import { KeyHint } from '@/ui/keyhint';
import { Answer } from '../compose/lazy';
import mail from '../mail/mail.module.css';
import { t } from './messages';
import { lastSent, replySubject, senderOf, type Conversation, type Message } from './words';
import styles from './inbox.module.css';

/**
 * Reply opens the composer for an answer: once asked is not 0, and each time it changes. Until then the page has a
 * button only, so that reading mail loads no editor.
 */
export function Reply({ thread, to, asked, onAsk, onClose }: {
  thread: Conversation;
  to: Message | undefined;
  asked: number;
  onAsk: () => void;
  onClose: () => void;
}) {
  const contact = thread.contact_id;
  if (contact === null) {
    return <p className={mail.help}>{to === undefined ? t('noContact') : t('noReply', { address: to.from })}</p>;
  }
  const name = to === undefined ? '' : senderOf(to);
  if (asked === 0) {
    return (
      <div>
        <Button icon="mail" onClick={onAsk}>
          {name === '' ? t('reply') : t('replyTo', { name })} <KeyHint keys="r" />
        </Button>
      </div>
    );
  }
  return (
    <section className={styles.reply} aria-label={t('reply')}>
      <Answer
        to={{ id: contact, name: name || thread.subject }}
        answers={{
          mailbox: thread.mailbox_id,
          subject: replySubject(thread.subject),
          email: lastSent(thread.messages),
        }}
        focus={asked}
        onClose={onClose}
      />
    </section>
  );
}
