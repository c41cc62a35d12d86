import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { describe } from '@/lib/describe';
import { invalidate, useList, type Row } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import type { Column } from '@/ui/table';
import { Time } from '@/ui/time';
import { ListScreen } from '../list/listscreen';
import { useAct } from '../mail/act';
import { t } from './messages';

type Template = Row<'/api/v1/templates'>;

const columns: readonly Column<Template>[] = [
  { key: 'name', title: t('name'), cell: (one) => one.name },
  { key: 'subject', title: t('subject'), width: '50%', wide: true, cell: (one) => one.subject },
  { key: 'changed', title: t('changed'), width: 120, end: true, wide: true, cell: (one) => <Time at={one.updated_at} /> },
];

/** The mail that a new template begins with. */
const firstSubject = 'Hello {{ contact.first_name | default: "there" }}';
const firstText = 'Hi {{ contact.first_name | default: "there" }},\n\n\n\nNo more mails: {{ unsubscribe_url }}';

/** Templates lists the mails that are written once and used often. */
export function Templates() {
  const list = useList('/api/v1/templates', { query: { count: 'exact' } });
  const { org, role } = useScope();
  const mayEdit = useMay('member');
  const navigate = useNavigate();
  const api = useApi();
  const [creating, setCreating] = useState(false);
  const { run } = useAct('/api/v1/templates');
  const open = (one: Pick<Template, 'id'>) => void navigate({ to: '/app/templates/$id', params: { id: one.id } });
  const archive = (one: Template) =>
    void run('archive', () => api.delete('/api/v1/templates/{id}', { path: { id: one.id } }), {
      title: t('archived'),
      onUndo: () =>
        void run(
          'restore',
          (idempotencyKey) => api.post('/api/v1/templates/{id}/restore', { path: { id: one.id }, idempotencyKey }),
          { title: t('restored') },
        ),
    });
  return (
    <ListScreen
      name="templates"
      title={t('title')}
      one="template"
      list={list}
      columns={columns}
      href={(one) => `/app/templates/${one.id}`}
      onOpen={open}
      phone={(one) => one.subject}
      {...(mayEdit
        ? {
            create: { label: t('newTemplate'), command: t('create'), run: () => setCreating(true) },
            actions: (one: Template) => [
              { label: t('archive'), icon: 'archive' as const, danger: true, onSelect: () => archive(one) },
            ],
          }
        : { note: t('mayNot', { org: org.name, role }) })}
      empty={{
        icon: 'templates',
        title: t('empty'),
        text: t('emptyText'),
        guide: { label: t('guide'), href: '/docs/guides/email' },
      }}
    >
      {creating && <CreateDialog onClose={() => setCreating(false)} onCreated={open} />}
    </ListScreen>
  );
}

function CreateDialog({ onClose, onCreated }: { onClose: () => void; onCreated: (one: Template) => void }) {
  const api = useApi();
  const scope = useScope();
  const [name, setName] = useState('');
  const create = useSubmit(
    (given: string, idempotencyKey) =>
      api.post('/api/v1/templates', {
        body: { name: given, subject: firstSubject, text: firstText },
        idempotencyKey,
      }),
    ({ data }) => {
      invalidate(scope, '/api/v1/templates');
      onClose();
      onCreated(data);
    },
  );
  const submit = () => void create.submit(name.trim());
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('newTemplate')}
      keep={name !== ''}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" busy={create.busy} onClick={submit}>
            {t('create')}
          </Button>
        </>
      }
    >
      <Form label={t('newTemplate')} problem={describe(create.error)} onSubmit={submit}>
        <Field label={t('name')} pointer="/name">
          <Input
            autoFocus
            maxLength={200}
            placeholder={t('namePlaceholder')}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
      </Form>
    </Dialog>
  );
}
