import { useEffect, useId, useRef, useState, type DragEvent } from 'react';
import { useWaitAfter } from '@/app/failure';
import { describe } from '@/lib/describe';
import { Button } from '@/ui/button';
import { Segments } from '@/ui/choice';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { MailboxChoice } from '../mail/choices';
import mail from '../mail/mail.module.css';
import { MergeText } from '../mail/mergetext';
import { bodyOf, isEmpty, textToBody, type Body } from './document';
import { DraftButton, type Draft } from './draft';
import { DraftNotice } from './draftnotice';
import { AttachButton, FileList, useFiles } from './files';
import { MailboxNotice, useMailbox } from './mailbox';
import { t } from './messages';
import { toHtml, toText } from './output';
import { RichBody, type BodyHandle } from './richbody';
import { SendLater } from './sendlater';
import { useSend } from './send';
import { Findings, ShownMail, useShown } from './shown';
import styles from './compose.module.css';

export interface ComposerProps {
  /** Who gets the mail. */
  to: { id: string; name: string };
  /** What the mail answers; a new mail has a choice of its mailbox and a subject. */
  answers?: { mailbox: string; subject: string; email: string | undefined };
  /** The mail is sent, or scheduled. */
  onDone: () => void;
  onDiscard: () => void;
  onDirty: (isDirty: boolean) => void;
  /** Focuses the text each time it changes. */
  focus?: number;
}

type Format = 'formatted' | 'text';

/** Composer writes a mail to one contact and sends it, now or later. */
export function Composer({ to, answers, onDone, onDiscard, onDirty, focus = 0 }: ComposerProps) {
  const form = useId();
  const editor = useRef<BodyHandle>(null);
  const [subject, setSubject] = useState(answers?.subject ?? '');
  const [format, setFormat] = useState<Format>('formatted');
  const [body, setBody] = useState<Body>(() => bodyOf([]));
  const [plain, setPlain] = useState('');
  const [before, setBefore] = useState<{ subject: string; body: Body; plain: string } | null>(null);
  const [isShowing, setShowing] = useState(false);
  const mailbox = useMailbox(answers?.mailbox);
  const files = useFiles();
  const parts = format === 'text' ? { text: plain } : { html: toHtml(body), text: toText(body) };
  const blank = format === 'text' ? plain.trim() === '' : isEmpty(body);
  const shown = useShown({ subject, ...(blank ? { text: ' ' } : parts) }, to.id, mailbox.id);
  const send = useSend(onDone);
  const wait = useWaitAfter(send.error);
  const isReady = !blank && subject.trim() !== '' && mailbox.id !== null && !files.reading && wait === 0;
  const isDirty = !blank || files.files.length > 0 || subject !== (answers?.subject ?? '');
  useEffect(() => onDirty(isDirty), [isDirty]);
  useEffect(() => {
    if (focus > 0) editor.current?.focus();
  }, [focus]);
  const submit = (at: Date | null) => {
    if (!isReady || mailbox.id === null) return;
    void send.submit({
      contact_id: to.id,
      mailbox_id: mailbox.id,
      subject,
      ...parts,
      purpose: 'personal',
      ...(answers?.email !== undefined && { in_reply_to_email_id: answers.email }),
      ...(at !== null && { scheduled_at: at.toISOString() }),
      ...(files.files.length > 0 && {
        attachments: files.files.map(({ name, type, content }) => ({ name, type, content })),
      }),
    });
  };
  const change = (next: Format) => {
    if (next === 'text') setPlain(toText(body));
    else if (plain !== toText(body)) setBody(textToBody(plain));
    setFormat(next);
  };
  const put = (next: { subject: string; body: Body; plain: string }) => {
    setSubject(next.subject);
    setPlain(next.plain);
    if (format === 'formatted') editor.current?.replace(next.body);
    else setBody(next.body);
  };
  const takeDraft = (draft: Draft) => {
    setShowing(false);
    put({ subject: subject.trim() || draft.subject, body: textToBody(draft.body), plain: draft.body });
    setBefore({ subject, body, plain });
  };
  const sendWord = answers === undefined ? t('send') : t('sendReply');
  return (
    <div className={styles.composer} onDragOver={allowFiles} onDrop={(event) => takeFiles(event, files.add)}>
      <Form
        id={form}
        label={answers === undefined ? t('mail', { name: to.name }) : t('replyTo', { name: to.name })}
        className={mail.stack}
        problem={describe(send.error)}
        onSubmit={() => submit(null)}
      >
        <MailboxNotice choice={mailbox} />
        {answers === undefined && !isShowing && (
          <div className={styles.heads}>
            <Field label={t('from')} pointer="/mailbox_id">
              <MailboxChoice value={mailbox.id} onChange={mailbox.choose} />
            </Field>
            <Field label={t('subject')} pointer="/subject">
              <Input
                autoFocus
                value={subject}
                maxLength={2000}
                onChange={(event) => setSubject(event.target.value)}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
                  event.preventDefault(); // Enter goes on to the text, it does not send
                  editor.current?.focus();
                }}
              />
            </Field>
          </div>
        )}
        <div className={isShowing ? styles.away : mail.tight}>
          <div className={styles.formats}>
            <span className={mail.label}>{t('body')}</span>
            <Segments
              label={t('format')}
              value={format}
              onChange={change}
              options={[
                { value: 'formatted', label: t('formatted') },
                { value: 'text', label: t('plain') },
              ]}
            />
          </div>
          {format === 'formatted' ? (
            <RichBody
              ref={editor}
              initial={body}
              pointer="/html"
              autoFocus={answers !== undefined}
              onChange={(next) => {
                setBody(next);
                setBefore(null); // who corrects a draft has read it
              }}
              onFiles={files.add}
            >
              <AttachButton onFiles={files.add} />
            </RichBody>
          ) : (
            <>
              <Field label={t('body')} pointer="/text" hideLabel help={t('plainLoses')}>
                <MergeText label={t('body')} rows={12} value={plain} onChange={setPlain} />
              </Field>
              <div>
                <AttachButton onFiles={files.add} />
              </div>
            </>
          )}
        </div>
        <FileList files={files.files} onRemove={files.remove} />
        {!blank && <Findings shown={shown} />}
      </Form>
      {isShowing && <ShownMail shown={shown} />}
      {before !== null && <DraftNotice onKeep={() => setBefore(null)} onDrop={() => put(before)} />}
      <div className={styles.foot}>
        <Button kind="primary" size="small" type="submit" form={form} busy={send.busy} disabled={!isReady}>
          {wait > 0 ? t('sendIn', { count: wait }) : sendWord}
        </Button>
        <SendLater disabled={!isReady || send.busy} onChoose={submit} />
        <Button
          size="small"
          kind="quiet"
          icon={isShowing ? 'edit' : 'eye'}
          disabled={blank}
          onClick={() => setShowing(!isShowing)}
        >
          {isShowing ? t('goOn') : t('preview')}
        </Button>
        <DraftButton contact={to.id} onDraft={takeDraft} />
        <Button size="small" kind="quiet" onClick={onDiscard}>
          {t('discard')}
        </Button>
      </div>
    </div>
  );
}

function allowFiles(event: DragEvent): void {
  if (event.dataTransfer.types.includes('Files')) event.preventDefault();
}

function takeFiles(event: DragEvent, add: (files: File[]) => void): void {
  if (event.defaultPrevented || event.dataTransfer.files.length === 0) return;
  event.preventDefault();
  add([...event.dataTransfer.files]);
}
