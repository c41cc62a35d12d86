import { useState } from 'react';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { invalidate, useList } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Avatar } from '@/ui/avatar';
import { Button, IconButton } from '@/ui/button';
import { EmptyState, Skeleton } from '@/ui/feedback';
import { Field, Textarea } from '@/ui/field';
import { Form } from '@/ui/form';
import { Menu } from '@/ui/menu';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { useMembers } from './directory';
import { t } from './messages';
import { rowsOf, Rest } from './rest';
import type { Note } from './types';
import styles from './record.module.css';

/** The record that notes, tasks and deals belong to. */
export type Owner = { contact_id: string } | { company_id: string } | { deal_id: string };

/** Notes are written, edited and deleted in place. */
export function Notes({ owner }: { owner: Owner }) {
  const may = useMay('member');
  const notes = useList('/api/v1/crm/notes', { query: { ...owner, sort: '-created_at' } });
  const rows = rowsOf(notes);
  return (
    <div className={styles.stack}>
      {may && <WriteNote owner={owner} />}
      {notes.error !== null && rows.length === 0 ? (
        <Failure error={notes.error} again={() => notes.pages.retry()} />
      ) : notes.pending ? (
        <Skeleton width="70%" />
      ) : rows.length === 0 ? (
        <EmptyState icon="note" title={t('noNotes')}>
          {t('noNotesHelp')}
        </EmptyState>
      ) : (
        <ul className={styles.cards}>
          {rows.map((note) => (
            <OneNote key={note.id} note={note} may={may} />
          ))}
        </ul>
      )}
      <Rest list={notes} />
    </div>
  );
}

function WriteNote({ owner }: { owner: Owner }) {
  const api = useApi();
  const scope = useScope();
  const [body, setBody] = useState('');
  const add = useSubmit(
    (text: string, idempotencyKey) => api.post('/api/v1/crm/notes', { body: { ...owner, body: text }, idempotencyKey }),
    () => {
      setBody('');
      invalidate(scope, '/api/v1/crm/notes');
    },
  );
  return (
    <Form
      className={styles.write}
      label={t('writeNote')}
      problem={describe(add.error)}
      onSubmit={() => body.trim() !== '' && void add.submit(body)}
    >
      <Field label={t('writeNote')} hideLabel pointer="/body">
        <Textarea
          rows={body === '' ? 2 : 4}
          placeholder={t('writeNote')}
          value={body}
          onChange={(event) => setBody(event.target.value)}
        />
      </Field>
      {body.trim() !== '' && (
        <div>
          <Button kind="primary" size="small" type="submit" busy={add.busy}>
            {t('addNote')}
          </Button>
        </div>
      )}
    </Form>
  );
}

function OneNote({ note, may }: { note: Note; may: boolean }) {
  const { nameOf } = useMembers();
  const api = useApi();
  const scope = useScope();
  const [draft, setDraft] = useState<string | null>(null);
  const again = () => invalidate(scope, '/api/v1/crm/notes');
  const save = useSubmit(
    (body: string, idempotencyKey) =>
      api.patch('/api/v1/crm/notes/{id}', { path: { id: note.id }, body: { body }, idempotencyKey }),
    () => {
      setDraft(null);
      again();
    },
  );
  const path = { id: note.id };
  const remove = useSubmit(
    (_: null) => api.delete('/api/v1/crm/notes/{id}', { path }),
    () => {
      again();
      toast({ title: t('noteDeleted'), onUndo: () => void restore.submit(null) });
    },
  );
  const restore = useSubmit(
    (_: null, idempotencyKey) => api.post('/api/v1/crm/notes/{id}/restore', { path, idempotencyKey }),
    again,
  );
  const author = note.author_id === null ? null : nameOf(note.author_id);
  const failed = describe(remove.error);
  return (
    <li className={styles.card}>
      <div className={styles.cardHead}>
        {author !== null && <Avatar name={author} />}
        <span className={styles.who}>{author ?? t('note')}</span>
        <span className="meta">
          <Time at={note.created_at} />
          {note.updated_at !== note.created_at && ` · ${t('edited')}`}
        </span>
        {may && draft === null && (
          <Menu
            align="end"
            trigger={<IconButton icon="more" label={t('editNote')} />}
            items={[
              { label: t('editNote'), icon: 'edit', onSelect: () => setDraft(note.body) },
              { label: t('deleteNote'), icon: 'trash', danger: true, onSelect: () => void remove.submit(null) },
            ]}
          />
        )}
      </div>
      {draft === null ? (
        <p className={styles.note}>{note.body}</p>
      ) : (
        <Form
          className={styles.write}
          label={t('editNote')}
          problem={describe(save.error)}
          onSubmit={() => void save.submit(draft)}
        >
          <Field label={t('note')} hideLabel pointer="/body">
            <Textarea rows={5} autoFocus value={draft} onChange={(event) => setDraft(event.target.value)} />
          </Field>
          <div className={styles.buttons}>
            <Button kind="primary" size="small" type="submit" busy={save.busy}>
              {t('saveNote')}
            </Button>
            <Button kind="quiet" size="small" onClick={() => setDraft(null)}>
              {t('cancel')}
            </Button>
          </div>
        </Form>
      )}
      {failed && (
        <p className={styles.error} role="alert">
          {failed.detail}
        </p>
      )}
    </li>
  );
}
