import { useRef, useState } from 'react';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { saveEdit } from '@/lib/edit';
import { randomId } from '@/lib/random';
import { invalidate, useRead } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card } from '@/ui/page';
import { Select } from '@/ui/select';
import { toast } from '@/ui/toast';
import { MailboxChoice } from '../mail/choices';
import styles from '../mail/mail.module.css';
import { MergeText } from '../mail/mergetext';
import { PreviewDialog } from '../mail/preview';
import { t } from './messages';
import type { Broadcast } from './words';

const everybody = 'all';
const byFilter = 'filter';

/** Editor has whom a broadcast goes to, from which mailbox, and its mail. */
export function Editor({ answer, mayEdit }: { answer: Answer<Broadcast>; mayEdit: boolean }) {
  const api = useApi();
  const scope = useScope();
  const base = useRef(answer);
  const one = answer.data;
  const segments = useRead('/api/v1/crm/segments', { query: { limit: 200 } });
  const templates = useRead('/api/v1/templates', { query: { limit: 200 } });
  const [previewing, setPreviewing] = useState(false);
  const [draft, setDraft] = useState(() => ({
    name: one.name,
    whom: one.segment ?? (one.filter === null || isEverybody(one.filter) ? everybody : byFilter),
    mailbox: one.mailbox_id,
    template: one.email.template_id ?? '',
    subject: one.email.subject,
    text: one.email.text,
    html: one.email.html,
  }));
  const set = (change: Partial<typeof draft>) => setDraft({ ...draft, ...change });
  const path = { id: one.id };
  const save = useSubmit(
    (_: typeof draft, idempotencyKey) => {
      const body = {
        name: draft.name.trim(),
        mailbox_id: draft.mailbox,
        ...audienceOf(draft.whom),
        email:
          draft.template === ''
            ? { template_id: null, subject: draft.subject, text: draft.text, html: draft.html }
            : { template_id: draft.template },
      };
      return saveEdit(base.current, body, {
        patch: (_changes, etag) =>
          api.patch('/api/v1/broadcasts/{id}', {
            path,
            body,
            ifMatch: etag,
            idempotencyKey: etag === base.current.etag ? idempotencyKey : randomId(),
          }),
        get: () => api.get('/api/v1/broadcasts/{id}', { path }),
      });
    },
    (stored) => {
      base.current = stored;
      const { email } = stored.data;
      set({ subject: email.subject, text: email.text, html: email.html });
      invalidate(scope, '/api/v1/broadcasts');
      toast({ title: t('saved') });
    },
  );
  const all = segments.data?.data ?? [];
  const audiences = [
    { value: everybody, label: t('noSegment') },
    ...all.map((segment) => ({ value: segment.id, label: segment.name, hint: segment.contact_count.toLocaleString('en') })),
    ...(draft.whom === byFilter ? [{ value: byFilter, label: t('filtered') }] : []),
  ];
  const variants = one.email.variants.length;
  return (
    <Card
      title={t('mail')}
      {...(mayEdit && {
        foot: (
          <>
            <Button size="small" icon="eye" onClick={() => setPreviewing(true)}>
              {t('preview')}
            </Button>
            <Button kind="primary" size="small" type="submit" form="broadcast" busy={save.busy}>
              {t('saveDraft')}
            </Button>
          </>
        ),
      })}
    >
      <Form id="broadcast" label={t('broadcast')} problem={describe(save.error)} onSubmit={() => void save.submit(draft)}>
        <fieldset className={styles.stack} disabled={!mayEdit}>
          <legend className="visually-hidden">{t('broadcast')}</legend>
          <Field label={t('name')} pointer="/name">
            <Input maxLength={200} value={draft.name} onChange={(e) => set({ name: e.target.value })} />
          </Field>
          <div className={styles.pair}>
            <Field label={t('whom')} pointer="/segment">
              <Select
                label={t('whom')}
                options={audiences}
                value={draft.whom}
                disabled={!mayEdit}
                onChange={(whom) => set({ whom })}
              />
            </Field>
            <Field label={t('mailbox')} pointer="/mailbox_id">
              <MailboxChoice value={draft.mailbox} disabled={!mayEdit} onChange={(mailbox) => set({ mailbox })} />
            </Field>
          </div>
          <Field label={t('template')} pointer="/email/template_id">
            <Select
              label={t('template')}
              options={[
                { value: '', label: t('noTemplate') },
                ...(templates.data?.data ?? []).map((template) => ({ value: template.id, label: template.name })),
              ]}
              value={draft.template}
              disabled={!mayEdit}
              onChange={(template) => set({ template })}
            />
          </Field>
          {draft.template === '' && (
            <>
              <Field label={t('subject')} pointer="/email/subject">
                <Input value={draft.subject} onChange={(e) => set({ subject: e.target.value })} />
              </Field>
              <Field label={t('text')} pointer="/email/text" help={t('textHelp')}>
                <MergeText label={t('text')} rows={12} value={draft.text} onChange={(text) => set({ text })} />
              </Field>
              {draft.html !== '' && <p className={styles.help}>{t('htmlMail')}</p>}
              {variants > 0 && <p className={styles.help}>{t('variantsMail', { count: variants })}</p>}
            </>
          )}
        </fieldset>
      </Form>
      {previewing && (
        <PreviewDialog
          mail={
            draft.template === '' ? { subject: draft.subject, text: draft.text, html: draft.html } : one.email
          }
          mailbox={draft.mailbox}
          onClose={() => setPreviewing(false)}
        />
      )}
    </Card>
  );
}

/** isEverybody reports whether a filter selects all contacts. */
function isEverybody(filter: { [key: string]: unknown }): boolean {
  const { all } = filter;
  return Array.isArray(all) && all.length === 0;
}

/** audienceOf returns what selects the audience; nothing for a filter that the console does not edit. */
function audienceOf(whom: string): { segment?: string | null; filter?: { [key: string]: unknown } | null } {
  if (whom === byFilter) return {};
  return whom === everybody ? { segment: null, filter: { all: [] } } : { segment: whom, filter: null };
}
