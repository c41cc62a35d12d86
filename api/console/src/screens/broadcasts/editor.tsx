import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useLeave } from '@/app/leave';
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
import { MailVersions } from '../mail/mailversions';
import { variantsToInput, type Versions } from '../mail/variants';
import { Builder } from '../segments/builder';
import { useFields } from '../segments/fields';
import { readFilter, type FilterJSON } from '../segments/filter';
import { useFilter } from '../segments/usefilter';
import { sentence } from '../segments/words';
import { MatchCount } from './audience';
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
  const fields = useFields({ segments: true });
  const hasFilter = one.filter !== null && !isEverybody(one.filter);
  const filter = useFilter(hasFilter ? one.filter : null, fields);
  const isReadable = !hasFilter || readFilter(one.filter) !== null;
  const [asked, setAsked] = useState(false);
  const [draft, setDraft] = useState(() => ({
    name: one.name,
    whom: one.segment ?? (hasFilter ? byFilter : everybody),
    mailbox: one.mailbox_id,
    template: one.email.template_id ?? '',
    mail: versionsOf(one),
  }));
  const set = (change: Partial<typeof draft>) => setDraft({ ...draft, ...change });
  const written = JSON.stringify(draft);
  const [kept, setKept] = useState(written);
  const leave = useLeave(mayEdit && (written !== kept || (draft.whom === byFilter && filter.isChanged)));
  const isTemplate = draft.template !== '';
  const path = { id: one.id };
  const save = useSubmit(
    (_: typeof draft, idempotencyKey) => {
      const { mail } = draft;
      const body = {
        name: draft.name.trim(),
        mailbox_id: draft.mailbox,
        ...audienceOf(draft.whom, isReadable ? filter.filter : undefined),
        email: {
          template_id: isTemplate ? draft.template : null,
          subject: mail.subject,
          text: isTemplate ? '' : mail.text,
          html: isTemplate ? '' : mail.html,
          variants: variantsToInput(mail.variants.map((it) => (isTemplate ? { ...it, text: '', html: '' } : it))),
        },
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
    (stored, sent) => {
      base.current = stored;
      if (draft.whom === byFilter) filter.keep();
      const mail = versionsOf(stored.data);
      setKept(JSON.stringify({ ...sent, mail }));
      if (draft.mail === sent.mail) set({ mail }); // else it was changed since
      invalidate(scope, '/api/v1/broadcasts');
      toast({ title: t('saved') });
    },
  );
  const submit = () => {
    setAsked(true);
    if (draft.whom !== byFilter || !isReadable || filter.filter !== undefined) void save.submit(draft);
  };
  const all = segments.data?.data ?? [];
  const audiences = [
    { value: everybody, label: t('noSegment') },
    { value: byFilter, label: t('filtered') },
    ...all.map((segment) => ({ value: segment.id, label: segment.name, hint: segment.contact_count.toLocaleString('en') })),
  ];
  return (
    <Card
      title={t('mail')}
      {...(mayEdit && {
        foot: (
          <Button kind="primary" size="small" type="submit" form="broadcast" busy={save.busy}>
            {t('saveDraft')}
          </Button>
        ),
      })}
    >
      <Form id="broadcast" label={t('broadcast')} problem={describe(save.error)} onSubmit={submit}>
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
          {draft.whom === byFilter &&
            (!isReadable ? (
              <p className={styles.help}>{t('unreadable')}</p>
            ) : !mayEdit ? (
              <p>{sentence(filter.group, fields.names)}</p>
            ) : (
              <section className={styles.tight} aria-label={t('conditions')}>
                <Builder
                  group={filter.group}
                  fields={fields}
                  onChange={filter.change}
                  errorOf={(id) => filter.errorOf(id, save.error, asked)}
                />
                <MatchCount filter={filter.filter === undefined ? undefined : filter.text} />
              </section>
            ))}
          <Field label={t('template')} pointer="/email/template_id">
            <Select
              label={t('template')}
              options={[
                { value: '', label: t('noTemplate') },
                ...(templates.data?.data ?? []).map((template) => ({ value: template.id, label: template.name })),
              ]}
              value={draft.template}
              disabled={!mayEdit}
              onChange={(template) =>
                set({ template, ...(!isTemplate && template !== '' && { mail: { ...draft.mail, subject: '' } }) })
              }
            />
          </Field>
          {isTemplate && (
            <p className={styles.help}>
              <Link to="/app/templates/$id" params={{ id: draft.template }}>
                {t('openTemplate')}
              </Link>
            </p>
          )}
          <MailVersions
            mail={draft.mail}
            pointer="/email"
            subjectOnly={isTemplate}
            subjectHelp={isTemplate ? t('subjectHelp') : undefined}
            textHelp={t('textHelp')}
            mailbox={draft.mailbox}
            disabled={!mayEdit}
            onChange={(mail) => set({ mail })}
          />
        </fieldset>
      </Form>
      {leave}
    </Card>
  );
}

function versionsOf({ email }: Broadcast): Versions {
  const { subject, text, html, variants } = email;
  return { subject, text, html, variants };
}

/** isEverybody reports whether a filter selects all contacts. */
function isEverybody(filter: FilterJSON): boolean {
  const { all } = filter;
  return Array.isArray(all) && all.length === 0;
}

/** audienceOf returns what selects the audience; nothing for a filter that is not edited here. */
function audienceOf(whom: string, filter: FilterJSON | undefined) {
  if (whom === everybody) return { segment: null, filter: { all: [] } };
  if (whom !== byFilter) return { segment: whom, filter: null };
  return filter === undefined ? {} : { segment: null, filter };
}
