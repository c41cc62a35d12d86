import { useState } from 'react';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { formatDay } from '@/lib/intl';
import { invalidate, useList } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button, IconButton } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { cx } from '@/ui/cx';
import { EmptyState, Skeleton } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Badge } from '@/ui/status';
import { toast } from '@/ui/toast';
import { useMembers } from './directory';
import { t } from './messages';
import type { Owner } from './notes';
import { rowsOf, Rest } from './rest';
import type { Task } from './types';
import styles from './record.module.css';

/** Tasks of a record: added in one line, ticked when done. */
export function Tasks({ owner }: { owner: Owner }) {
  const may = useMay('member');
  const tasks = useList('/api/v1/crm/tasks', { query: { ...owner, sort: 'due_at' } });
  const [withDone, setWithDone] = useState(false);
  const rows = rowsOf(tasks);
  const open = rows.filter((task) => task.status === 'open');
  const done = rows.filter((task) => task.status === 'done');
  const shown = [...open, ...(withDone ? done : [])];
  const change = (id: string, status: Task['status'] | null) =>
    tasks.pages.change((task) => (task.id !== id ? undefined : status === null ? null : { ...task, status }));
  return (
    <div className={styles.stack}>
      {may && <AddTask owner={owner} />}
      {tasks.error !== null && rows.length === 0 ? (
        <Failure error={tasks.error} again={() => tasks.pages.retry()} />
      ) : tasks.pending ? (
        <Skeleton width="60%" />
      ) : rows.length === 0 ? (
        <EmptyState icon="tasks" title={t('noTasks')}>
          {t('noTasksHelp')}
        </EmptyState>
      ) : (
        shown.length > 0 && (
          <ul className={styles.tasks}>
            {shown.map((task) => (
              <OneTask key={task.id} task={task} may={may} change={change} />
            ))}
          </ul>
        )
      )}
      {done.length > 0 && (
        <div>
          <Button kind="quiet" size="small" onClick={() => setWithDone(!withDone)}>
            {withDone ? t('hideDone') : t('showDone', { count: done.length })}
          </Button>
        </div>
      )}
      <Rest list={tasks} />
    </div>
  );
}

function AddTask({ owner }: { owner: Owner }) {
  const api = useApi();
  const scope = useScope();
  const [title, setTitle] = useState('');
  const [due, setDue] = useState('');
  const add = useSubmit(
    (body: { title: string; due_at?: string }, idempotencyKey) =>
      api.post('/api/v1/crm/tasks', { body: { ...owner, ...body }, idempotencyKey }),
    () => {
      setTitle('');
      setDue('');
      invalidate(scope, '/api/v1/crm/tasks');
    },
  );
  const submit = () => {
    if (title.trim() === '') return;
    void add.submit({ title: title.trim(), ...(due !== '' && { due_at: endOfDay(due) }) });
  };
  return (
    <Form className={styles.write} label={t('newTask')} problem={describe(add.error)} onSubmit={submit}>
      <div className={styles.line}>
        <Field label={t('newTask')} hideLabel pointer="/title">
          <Input placeholder={t('newTask')} value={title} onChange={(event) => setTitle(event.target.value)} />
        </Field>
        <Field label={t('dueDay')} hideLabel pointer="/due_at">
          <Input type="date" value={due} onChange={(event) => setDue(event.target.value)} />
        </Field>
        <Button type="submit" busy={add.busy} disabled={title.trim() === ''}>
          {t('addTask')}
        </Button>
      </div>
    </Form>
  );
}

function OneTask({ task, may, change }: {
  task: Task;
  may: boolean;
  change: (id: string, status: Task['status'] | null) => void;
}) {
  const api = useApi();
  const scope = useScope();
  const { nameOf } = useMembers();
  const path = { id: task.id };
  const again = () => invalidate(scope, '/api/v1/crm/tasks');
  const fail = (error: unknown) => {
    again();
    const { detail, request_id } = describe(error) ?? { detail: '', request_id: undefined };
    toast({ kind: 'bad', title: t('notSaved'), detail, ...(request_id && { requestId: request_id }) });
  };
  const set = (status: Task['status'], undoable = true) => {
    change(task.id, status);
    api
      .patch('/api/v1/crm/tasks/{id}', { path, body: { status }, idempotencyKey: crypto.randomUUID() })
      .then(() => {
        again();
        if (status === 'done' && undoable) toast({ title: t('taskDone'), onUndo: () => set('open', false) });
      })
      .catch(fail);
  };
  const remove = () => {
    change(task.id, null);
    api
      .delete('/api/v1/crm/tasks/{id}', { path })
      .then(() => toast({ title: t('taskDeleted'), onUndo: restore }))
      .catch(fail);
  };
  const restore = () => {
    api
      .post('/api/v1/crm/tasks/{id}/restore', { path, idempotencyKey: crypto.randomUUID() })
      .then(again)
      .catch(fail);
  };
  const done = task.status === 'done';
  const late = !done && task.due_at !== null && Date.parse(task.due_at) < Date.now();
  return (
    <li className={styles.task}>
      <Checkbox
        label={t('markDone', { title: task.title })}
        hideLabel
        checked={done}
        disabled={!may}
        onChange={(on) => set(on ? 'done' : 'open')}
      />
      <span className={cx(styles.taskTitle, done && styles.done)}>{task.title}</span>
      {task.priority === 'high' && <Badge tone="warn">{t('high')}</Badge>}
      {task.assignee_id !== null && <span className={cx('meta', styles.wide)}>{nameOf(task.assignee_id)}</span>}
      {task.due_at !== null && (
        <span className={cx('meta', 'num', late && styles.late)}>
          {late && `${t('overdue')} · `}
          {formatDay(task.due_at)}
        </span>
      )}
      {may && <IconButton icon="trash" label={t('deleteTask')} onClick={remove} />}
    </li>
  );
}

/** A task that is due on a day may be done until that day ends. */
function endOfDay(day: string): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date, 23, 59, 59).toISOString();
}
