import { useEffect, useState } from 'react';
import { describe } from '@/lib/describe';
import { messages } from '@/lib/messages';
import type { Options, Result } from '@/lib/operations';
import { useApi } from '@/lib/services';
import { Dialog } from '@/ui/dialog';
import { Callout, Skeleton } from '@/ui/feedback';
import { Field } from '@/ui/field';
import type { Option } from '@/ui/select';
import { Status, type Tone } from '@/ui/status';
import { ContactChoice, useFirstContact } from './contactchoice';
import styles from './preview.module.css';
import { RenderedMail } from './rendered';

const t = messages({
  title: 'Preview',
  contact: 'As this contact would get it',
  find: 'Name or address',
  noContact: 'There is no contact yet to show it for.',
  lint: 'To look at',
  fine: 'Nothing to correct.',
  error: 'Error',
  warning: 'Warning',
  info: 'Note',
  notSent: 'This contact would not get the mail.',
});

export type Preview = Result<'post', '/api/v1/templates/preview'>;
type Template = NonNullable<Options<'post', '/api/v1/templates/preview'>['body']['template']>;
type Severity = Preview['lint'][number]['severity'];

/** tones are those of the severities of what to correct. */
export const tones: Readonly<Record<Severity, Tone>> = { error: 'bad', warning: 'warn', info: 'off' };

/** usePreview renders a mail for a contact each time one of them changes. */
export function usePreview(template: Template, contact: string | null, mailbox: string | null) {
  const api = useApi();
  const [state, setState] = useState<{ preview: Preview | null; error: unknown }>({ preview: null, error: null });
  const text = JSON.stringify(template);
  useEffect(() => {
    if (contact === null) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api
        .post('/api/v1/templates/preview', {
          body: { contact_id: contact, template, ...(mailbox !== null && { mailbox_id: mailbox }) },
          repeatable: true,
          signal: stop.signal,
        })
        .then(({ data }) => setState({ preview: data, error: null }))
        .catch((error: unknown) => stop.signal.aborted || setState({ preview: null, error }));
    }, 250);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [api, text, contact, mailbox]); // text stands for template
  return state;
}

/** toTemplate returns the parts of a mail as a preview takes them: what is empty is left out. */
export function toTemplate({ subject, text, html }: { subject: string; text: string; html: string }): Template {
  return { subject, ...(text !== '' && { text }), ...(html !== '' && { html }) };
}

/** PreviewDialog shows a mail as a contact would get it, and what to correct. */
export function PreviewDialog({ mail, mailbox, onClose }: {
  mail: { subject: string; text: string; html: string };
  mailbox: string | null;
  onClose: () => void;
}) {
  return (
    <Dialog open onClose={onClose} title={t('title')} wide>
      <PreviewPane template={toTemplate(mail)} mailbox={mailbox} />
    </Dialog>
  );
}

/** PreviewPane shows a mail for a contact that can be chosen. */
export function PreviewPane({ template, mailbox }: { template: Template; mailbox: string | null }) {
  const first = useFirstContact();
  const [chosen, setChosen] = useState<Option | null>(null);
  const contact = chosen ?? first;
  const { preview, error } = usePreview(template, contact?.value ?? null, mailbox);
  return (
    <div className={styles.pane}>
      <Field label={t('contact')}>
        <ContactChoice
          label={t('contact')}
          placeholder={t('find')}
          value={contact === null ? [] : [contact]}
          onChange={([next]) => setChosen(next ?? null)}
        />
      </Field>
      {error !== null && <Callout tone="bad">{describe(error)?.errors?.[0]?.detail ?? describe(error)?.detail}</Callout>}
      {contact === null && <p className="meta">{t('noContact')}</p>}
      {preview === null && error === null && contact !== null && <Skeleton width="70%" />}
      {preview !== null && (
        <>
          <Lint preview={preview} />
          {preview.subject === null ? (
            <Callout tone="warn">{t('notSent')}</Callout>
          ) : (
            <RenderedMail subject={preview.subject} html={preview.html} text={preview.text} />
          )}
        </>
      )}
    </div>
  );
}

/** Lint lists what to correct in a mail. */
export function Lint({ preview }: { preview: Preview }) {
  if (preview.lint.length === 0) return <Status tone="good">{t('fine')}</Status>;
  return (
    <ul className={styles.lint} aria-label={t('lint')}>
      {preview.lint.map((one, i) => (
        <li key={i}>
          <Status tone={tones[one.severity]}>{t(one.severity)}</Status>
          <span>{one.message}</span>
        </li>
      ))}
    </ul>
  );
}
