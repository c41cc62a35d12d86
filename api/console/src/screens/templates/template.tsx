import { useNavigate, useParams } from '@tanstack/react-router';
import { useRef, useState, type ReactNode } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { useLeave } from '@/app/leave';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { saveEdit } from '@/lib/edit';
import { randomId } from '@/lib/random';
import { invalidate, useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button, IconButton } from '@/ui/button';
import { Segments } from '@/ui/choice';
import { Callout, Skeleton } from '@/ui/feedback';
import { Field, Input, Textarea } from '@/ui/field';
import { Form } from '@/ui/form';
import { PageHead } from '@/ui/page';
import { toast } from '@/ui/toast';
import mail from '../mail/mail.module.css';
import { MergeText } from '../mail/mergetext';
import { PreviewPane } from '../mail/preview';
import { BlockEditor } from './blockeditor';
import { complete, fromText, readBlocks, writeBlocks, type Item, type Template } from './blocks';
import { t } from './messages';
import styles from './templates.module.css';

type Format = 'text' | 'blocks' | 'html';

/** TemplatePage edits a template; beside it is the mail as a contact would get it, and what to correct. */
export function TemplatePage() {
  const { id } = useParams({ from: '/app/templates/$id' });
  const read = useRead('/api/v1/templates/{id}', { path: { id } });
  const navigate = useNavigate();
  const back = <IconButton icon="left" label={t('title')} onClick={() => void navigate({ to: '/app/templates' })} />;
  if (read.error !== null && read.data === undefined) return <Failure error={read.error} again={read.again} />;
  if (read.answer === undefined) {
    return (
      <>
        <PageHead before={back} title={<span className={mail.wait}><Skeleton width={240} /></span>} />
        <div className={mail.cards}>
          <Skeleton width="60%" />
          <Skeleton width="90%" />
        </div>
      </>
    );
  }
  return <Loaded key={id} answer={read.answer} back={back} />;
}

function Loaded({ answer, back }: { answer: Answer<Template>; back: ReactNode }) {
  const api = useApi();
  const scope = useScope();
  const mayEdit = useMay('member');
  const base = useRef(answer);
  const one = answer.data;
  const [draft, setDraft] = useState(() => ({
    name: one.name,
    subject: one.subject,
    text: one.text ?? '',
    part: one.html === null && one.blocks === null ? '' : (one.text ?? ''),
    html: one.html ?? '',
    items: readBlocks(one.blocks ?? []) as readonly Item[],
  }));
  const [format, setFormat] = useState<Format>(one.blocks !== null ? 'blocks' : one.html !== null ? 'html' : 'text');
  const set = (change: Partial<typeof draft>) => setDraft((old) => ({ ...old, ...change }));
  const choose = (next: Format) => {
    setFormat(next);
    if (next === 'blocks' && draft.items.length === 0) set({ items: fromText(draft.text) });
  };
  const text = format === 'text' ? draft.text : draft.part;
  const orNull = (text: string) => (text === '' ? null : text);
  const path = { id: one.id };
  const body = {
    name: draft.name.trim(),
    subject: draft.subject,
    text: orNull(text),
    html: format === 'html' ? orNull(draft.html) : null,
    blocks: format === 'blocks' ? writeBlocks(draft.items) : null,
  };
  const written = JSON.stringify(body);
  const [kept, setKept] = useState(written);
  const isDirty = mayEdit && written !== kept;
  const leave = useLeave(isDirty);
  const save = useSubmit(
    (sent: typeof body, idempotencyKey) =>
      saveEdit(base.current, sent, {
        patch: (_changes, etag) =>
          api.patch('/api/v1/templates/{id}', {
            path,
            body: sent,
            ifMatch: etag,
            idempotencyKey: etag === base.current.etag ? idempotencyKey : randomId(),
          }),
        get: () => api.get('/api/v1/templates/{id}', { path }),
      }),
    (stored, sent) => {
      base.current = stored;
      setKept(JSON.stringify(sent));
      invalidate(scope, '/api/v1/templates');
      toast({ title: t('saved') });
    },
  );
  const shown = complete(draft.items);
  const submit = () => {
    if (mayEdit) void save.submit(body);
  };
  useCommands(mayEdit ? [{ id: 'template.save', label: t('save'), icon: 'check', keys: 'mod s', run: submit }] : []);
  return (
    <>
      <PageHead before={back} title={draft.name} {...(isDirty && { count: t('unsaved') })}>
        {mayEdit && (
          <Button kind="primary" size="small" type="submit" form="template" busy={save.busy}>
            {t('save')}
          </Button>
        )}
      </PageHead>
      <div className={mail.scroll}>
        <div className={styles.split}>
          <Form id="template" label={t('title')} problem={describe(save.error)} onSubmit={submit}>
            <fieldset className={mail.stack} disabled={!mayEdit}>
              <legend className="visually-hidden">{t('title')}</legend>
              <Field label={t('name')} pointer="/name">
                <Input maxLength={200} value={draft.name} onChange={(e) => set({ name: e.target.value })} />
              </Field>
              <Field label={t('subject')} pointer="/subject">
                <Input value={draft.subject} onChange={(e) => set({ subject: e.target.value })} />
              </Field>
              <Segments
                label={t('format')}
                value={format}
                onChange={choose}
                options={[
                  { value: 'text', label: t('asText') },
                  { value: 'blocks', label: t('asBlocks') },
                  { value: 'html', label: t('html') },
                ]}
              />
              {format !== 'blocks' && one.blocks !== null && <Callout>{t('replacesBlocks')}</Callout>}
              {format !== 'html' && one.html !== null && <Callout>{t('replacesHtml')}</Callout>}
              {format === 'blocks' && (
                <BlockEditor
                  items={draft.items}
                  errors={describe(save.error)?.errors ?? []}
                  onChange={(items) => set({ items })}
                  disabled={!mayEdit}
                />
              )}
              {format === 'html' && (
                <Field label={t('html')} pointer="/html" help={t('htmlHelp')}>
                  <Textarea mono rows={16} value={draft.html} onChange={(e) => set({ html: e.target.value })} />
                </Field>
              )}
              {format === 'text' ? (
                <Field label={t('text')} pointer="/text" help={t('textHelp')}>
                  <MergeText label={t('text')} rows={14} value={draft.text} onChange={(next) => set({ text: next })} />
                </Field>
              ) : (
                <Field label={t('textPart')} pointer="/text" help={t('textPartHelp')} optional>
                  <MergeText label={t('textPart')} rows={4} value={draft.part} onChange={(part) => set({ part })} />
                </Field>
              )}
            </fieldset>
          </Form>
          <aside className={styles.preview} aria-label={t('preview')}>
            {format === 'blocks' && shown.length === 0 ? (
              <p className="meta">{t('noBlocks')}</p>
            ) : (
              <PreviewPane
                mailbox={null}
                template={{
                  subject: draft.subject,
                  ...(text !== '' && { text }),
                  ...(format === 'html' && draft.html !== '' && { html: draft.html }),
                  ...(format === 'blocks' && { blocks: writeBlocks(shown) }),
                }}
              />
            )}
          </aside>
        </div>
      </div>
      {leave}
    </>
  );
}
