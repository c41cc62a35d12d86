import { useState } from 'react';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { Button } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { Switch } from '@/ui/choice';
import { Field, Input, Textarea } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card, Facts } from '@/ui/page';
import styles from '../mail/mail.module.css';
import { t } from './messages';
import { useSave } from './save';
import { draftOf, imapDraft, smtpDraft, toServer } from './server';
import { ServerFields } from './serverfields';
import type { Mailbox } from './words';

interface CardProps {
  answer: Answer<Mailbox>;
  isAdmin: boolean;
}

/** SenderCard has what recipients see of a mailbox. */
export function SenderCard({ answer, isAdmin }: CardProps) {
  const one = answer.data;
  const save = useSave(answer);
  const [fields, setFields] = useState({
    from_name: one.from_name,
    name: one.name,
    reply_to: one.reply_to ?? '',
    time_zone: one.time_zone ?? '',
    signature_html: one.signature_html,
  });
  if (!isAdmin) {
    return (
      <Card title={t('identity')}>
        <Facts
          facts={[
            [t('fromName'), one.from_name || '–'],
            [t('replyTo'), one.reply_to ?? one.from_email],
          ]}
        />
      </Card>
    );
  }
  const set = (change: Partial<typeof fields>) => setFields({ ...fields, ...change });
  const orNull = (text: string) => (text.trim() === '' ? null : text.trim());
  const submit = () =>
    void save.submit({
      from_name: fields.from_name.trim(),
      name: fields.name.trim(),
      reply_to: orNull(fields.reply_to),
      time_zone: orNull(fields.time_zone),
      signature_html: fields.signature_html,
    });
  return (
    <Card
      title={t('identity')}
      foot={
        <Button kind="primary" size="small" type="submit" form="mailbox-sender" busy={save.busy}>
          {t('saveSender')}
        </Button>
      }
    >
      <Form id="mailbox-sender" label={t('identity')} problem={describe(save.error)} onSubmit={submit}>
        <div className={styles.pair}>
          <Field label={t('fromName')} pointer="/from_name" help={t('fromNameHelp')} optional>
            <Input value={fields.from_name} onChange={(e) => set({ from_name: e.target.value })} />
          </Field>
          <Field label={t('name')} pointer="/name" help={t('nameHelp')} optional>
            <Input value={fields.name} onChange={(e) => set({ name: e.target.value })} />
          </Field>
          <Field label={t('replyTo')} pointer="/reply_to" help={t('replyToHelp')} optional>
            <Input type="email" value={fields.reply_to} onChange={(e) => set({ reply_to: e.target.value })} />
          </Field>
          <Field label={t('timeZone')} pointer="/time_zone" help={t('timeZoneHelp')} optional>
            <Input value={fields.time_zone} onChange={(e) => set({ time_zone: e.target.value })} />
          </Field>
        </div>
        <Field label={t('signature')} pointer="/signature_html" help={t('signatureHelp')} optional>
          <Textarea
            mono
            rows={3}
            value={fields.signature_html}
            onChange={(e) => set({ signature_html: e.target.value })}
          />
        </Field>
      </Form>
    </Card>
  );
}

/** ServersCard changes the servers of a mailbox of the kind smtp. */
export function ServersCard({ answer }: { answer: Answer<Mailbox> }) {
  const one = answer.data;
  const save = useSave(answer);
  const [smtp, setSmtp] = useState(draftOf(one.smtp, smtpDraft));
  const [imap, setImap] = useState(draftOf(one.imap, imapDraft));
  const [reads, setReads] = useState(one.imap !== null);
  const submit = () => void save.submit({ smtp: toServer(smtp), imap: reads ? toServer(imap) : null });
  return (
    <Card
      title={t('server')}
      foot={
        <Button kind="primary" size="small" type="submit" form="mailbox-servers" busy={save.busy}>
          {t('saveServer')}
        </Button>
      }
    >
      <Form id="mailbox-servers" label={t('server')} problem={describe(save.error)} onSubmit={submit}>
        <p className={styles.help}>{t('serverText')}</p>
        <ServerFields legend={t('sending')} pointer="/smtp" value={smtp} onChange={setSmtp} stored />
        <Checkbox label={t('readToo')} help={t('readingHelp')} checked={reads} onChange={setReads} />
        {reads && (
          <ServerFields
            legend={t('reading')}
            pointer="/imap"
            value={imap}
            onChange={setImap}
            stored={one.imap !== null}
          />
        )}
      </Form>
    </Card>
  );
}

/** TrackingCard turns on what is counted of automated mail. */
export function TrackingCard({ answer, isAdmin }: CardProps) {
  const { tracking } = answer.data;
  const save = useSave(answer);
  return (
    <Card title={t('tracking')}>
      <div className={styles.stack}>
        {save.error !== null && <p role="alert">{describe(save.error)?.detail}</p>}
        <Switch
          label={t('opens')}
          help={t('opensHelp')}
          checked={tracking.opens}
          disabled={!isAdmin || save.busy}
          onChange={(opens) => void save.submit({ tracking: { opens } })}
        />
        <Switch
          label={t('clicks')}
          help={t('clicksHelp')}
          checked={tracking.clicks}
          disabled={!isAdmin || save.busy}
          onChange={(clicks) => void save.submit({ tracking: { clicks } })}
        />
      </div>
    </Card>
  );
}
