import { useState } from 'react';
import { Failure } from '@/app/failure';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { saveEdit, StaleError } from '@/lib/edit';
import { randomId } from '@/lib/random';
import { invalidate, useRead } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi, useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Callout, Skeleton } from '@/ui/feedback';
import { Field, Input, Textarea } from '@/ui/field';
import { Form } from '@/ui/form';
import { Select } from '@/ui/select';
import { toast } from '@/ui/toast';
import { useMembers } from '../record/directory';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { dayOf, endOfDay, type Task } from './days';
import { t } from './messages';
import styles from './tasks.module.css';

/** TaskForm is the dialog that adds a task or changes one. */
export function TaskForm({ task, onClose }: { task: Task | null; onClose: () => void }) {
  return task === null ? <Editor base={null} onClose={onClose} /> : <Stored id={task.id} onClose={onClose} />;
}

/** Stored reads the version of the task with which the form begins. */
function Stored({ id, onClose }: { id: string; onClose: () => void }) {
  const read = useRead('/api/v1/crm/tasks/{id}', { path: { id } });
  if (read.answer !== undefined) return <Editor base={read.answer} onClose={onClose} />;
  return (
    <Dialog open onClose={onClose} title={t('editTitle')}>
      {read.error === null ? <Skeleton width="60%" /> : <Failure error={read.error} again={read.again} />}
    </Dialog>
  );
}

/** Editor is the form. An edit is one of the version with which it began, even if the task was read again meanwhile. */
function Editor({ base: first, onClose }: { base: Answer<Task> | null; onClose: () => void }) {
  const [base] = useState(first);
  const task = base?.data ?? null;
  const api = useApi();
  const scope = useScope();
  const members = useMembers();
  const own = useStore(useServices().session.state).grant?.user?.id ?? '';
  const [title, setTitle] = useState(task?.title ?? '');
  const [description, setDescription] = useState(task?.description ?? '');
  const [day, setDay] = useState(dayOf(task?.due_at ?? null));
  const [assignee, setAssignee] = useState(task === null ? own : (task.assignee_id ?? ''));
  const [priority, setPriority] = useState<Task['priority']>(task?.priority ?? 'normal');
  const [checked, setChecked] = useState(false);
  const body = {
    title: title.trim(),
    description: description.trim() === '' ? null : description.trim(),
    due_at: day === '' ? null : day === dayOf(task?.due_at ?? null) ? (task?.due_at ?? null) : endOfDay(day),
    assignee_id: assignee === '' ? null : assignee,
    priority,
  };
  const save = useSubmit(
    async (theirs: Answer<Task> | null, idempotencyKey) => {
      if (base === null) return (await api.post('/api/v1/crm/tasks', { body, idempotencyKey })).data;
      const path = { id: base.data.id };
      const from = theirs ?? base;
      const changes = changesOf(base.data, body);
      const answer = await saveEdit(from, changes, {
        get: () => api.get('/api/v1/crm/tasks/{id}', { path }),
        patch: (_, ifMatch) =>
          api.patch('/api/v1/crm/tasks/{id}', {
            path,
            ifMatch,
            idempotencyKey: ifMatch === from.etag ? idempotencyKey : randomId(),
            body: changes,
          }),
      });
      return answer.data;
    },
    () => {
      invalidate(scope, '/api/v1/crm/tasks');
      toast({ title: t(task === null ? 'created' : 'saved') });
      onClose();
    },
  );
  const stale = save.error instanceof StaleError ? (save.error as StaleError<Task>) : null;
  const submit = () => {
    setChecked(true);
    if (title.trim() !== '') void save.submit(null);
  };
  const dirty = title !== (task?.title ?? '') || description !== (task?.description ?? '');
  return (
    <Dialog open onClose={onClose} title={t(task === null ? 'createTitle' : 'editTitle')} keep={dirty}>
      <Form
        problem={stale !== null || isPlanLimit(save.error) ? null : describe(save.error)}
        onSubmit={submit}
      >
        <PlanLimit error={save.error} />
        {stale !== null && (
          <Callout
            tone="warn"
            title={t('conflict')}
            action={
              <>
                <Button size="small" onClick={onClose}>
                  {t('keepTheirs')}
                </Button>
                <Button size="small" onClick={() => void save.submit(stale.theirs)}>
                  {t('saveMine')}
                </Button>
              </>
            }
          >
            {stale.conflicts.map((field) => (
              <p key={field}>{t('theirs', { value: String(Reflect.get(stale.theirs.data, field) ?? '') })}</p>
            ))}
          </Callout>
        )}
        <Field label={t('name')} pointer="/title" error={checked && title.trim() === '' ? t('noName') : undefined}>
          <Input
            autoFocus
            value={title}
            maxLength={200}
            autoComplete="off"
            placeholder={t('namePlaceholder')}
            onChange={(event) => setTitle(event.target.value)}
          />
        </Field>
        <div className={styles.pair}>
          <Field label={t('day')} pointer="/due_at" optional>
            <Input type="date" value={day} onChange={(event) => setDay(event.target.value)} />
          </Field>
          <Field label={t('priority')} pointer="/priority">
            <Select<Task['priority']>
              label={t('priority')}
              options={[
                { value: 'high', label: t('high') },
                { value: 'normal', label: t('normal') },
                { value: 'low', label: t('low') },
              ]}
              value={priority}
              onChange={setPriority}
            />
          </Field>
        </div>
        <Field label={t('assignee')} pointer="/assignee_id">
          <Select
            label={t('assignee')}
            options={[{ value: '', label: t('nobody') }, ...members.options]}
            value={assignee}
            onChange={setAssignee}
          />
        </Field>
        <Field label={t('description')} pointer="/description" optional>
          <Textarea rows={3} value={description} onChange={(event) => setDescription(event.target.value)} />
        </Field>
        <div>
          <Button kind="primary" type="submit" busy={save.busy}>
            {t(task === null ? 'createAction' : 'saveAction')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

/** changesOf returns what differs from the stored version. */
function changesOf(stored: Task, wanted: Partial<Task>): Partial<Task> {
  const entries = Object.entries(wanted).filter(([name, value]) => value !== Reflect.get(stored, name));
  return Object.fromEntries(entries);
}
