import { useState, type Ref } from 'react';
import { useWaitAfter } from '@/app/failure';
import { tellFailure } from '@/app/tell';
import { describe } from '@/lib/describe';
import { randomId } from '@/lib/random';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Popover } from '@/ui/popover';
import { toast } from '@/ui/toast';
import mail from '../mail/mail.module.css';
import { t } from './messages';
import { ReplyText } from './replytext';
import { lastSent, replySubject, senderOf, type Conversation, type Message } from './words';
import styles from './inbox.module.css';

/** Reply writes an answer as plain text, by hand or beginning with a draft of the model, and sends it. */
export function Reply({ thread, to, ref }: {
  thread: Conversation;
  to: Message | undefined;
  ref: Ref<HTMLTextAreaElement>;
}) {
  const api = useApi();
  const scope = useScope();
  const [text, setText] = useState('');
  const contact = thread.contact_id;
  const before = lastSent(thread.messages);
  const send = useSubmit(
    (body: string, idempotencyKey) =>
      api.post('/api/v1/crm/emails', {
        idempotencyKey,
        body: {
          contact_id: contact ?? '',
          mailbox_id: thread.mailbox_id,
          subject: replySubject(thread.subject),
          text: body,
          purpose: 'personal',
          ...(before !== undefined && { in_reply_to_email_id: before }),
        },
      }),
    () => {
      setText('');
      invalidate(scope, '/api/v1/crm/threads', '/api/v1/crm/emails');
      toast({ title: t('sent') });
    },
  );
  const wait = useWaitAfter(send.error);
  if (contact === null) {
    return <p className={mail.help}>{to === undefined ? t('noContact') : t('noReply', { address: to.from })}</p>;
  }
  const name = to === undefined ? '' : senderOf(to);
  const submit = () => {
    if (text.trim() !== '' && wait === 0) void send.submit(text);
  };
  return (
    <div className={styles.reply}>
      <Form label={t('reply')} className={mail.tight} problem={describe(send.error)} onSubmit={submit}>
        <Field label={name === '' ? t('reply') : t('replyTo', { name })} pointer="/text">
          <ReplyText ref={ref} placeholder={t('write')} value={text} onChange={setText} />
        </Field>
        <div className={mail.buttons}>
          <Button
            kind="primary"
            size="small"
            type="submit"
            busy={send.busy}
            disabled={text.trim() === '' || wait > 0}
          >
            {wait > 0 ? t('sendIn', { count: wait }) : t('send')}
          </Button>
          {text !== '' && (
            <Button size="small" kind="quiet" onClick={() => setText('')}>
              {t('discard')}
            </Button>
          )}
        </div>
      </Form>
      <DraftPopover contact={contact} onDraft={setText} />
    </div>
  );
}

/** DraftPopover asks the model for a draft. Nothing is sent: the draft waits in the field for a person. */
function DraftPopover({ contact, onDraft }: { contact: string; onDraft: (text: string) => void }) {
  const api = useApi();
  const [open, setOpen] = useState(false);
  const [goal, setGoal] = useState('');
  const [busy, setBusy] = useState(false);
  const make = async () => {
    setBusy(true);
    try {
      const { data } = await api.post('/api/v1/ai/draft-email', {
        body: { contact_id: contact, goal: goal.trim(), tone: 'friendly', language: ownLanguage() },
        idempotencyKey: randomId(),
      });
      onDraft(data.body);
      setOpen(false);
      toast({ title: t('drafted') });
    } catch (error) {
      tellFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Popover
      label={t('draft')}
      open={open}
      onOpenChange={setOpen}
      trigger={
        <Button size="small" kind="quiet" icon="spark">
          {t('draft')}
        </Button>
      }
    >
      <Form label={t('draft')} onSubmit={() => goal.trim() !== '' && void make()}>
        <Field label={t('goal')}>
          <Input
            maxLength={1000}
            placeholder={t('goalPlaceholder')}
            value={goal}
            onChange={(event) => setGoal(event.target.value)}
          />
        </Field>
        <Button kind="primary" size="small" type="submit" busy={busy}>
          {t('makeDraft')}
        </Button>
      </Form>
    </Popover>
  );
}

/** ownLanguage returns the name of the browser's language, in which a draft is written. */
function ownLanguage(): string {
  return new Intl.DisplayNames(['en'], { type: 'language' }).of(navigator.language) ?? 'English';
}
