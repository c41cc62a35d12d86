import { Link, useSearch } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { randomId } from '@/lib/random';
import { invalidate, useList } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi, useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import { Button } from '@/ui/button';
import { EmptyState, Skeleton } from '@/ui/feedback';
import { PageHead } from '@/ui/page';
import { toast } from '@/ui/toast';
import { archiveWithUndo } from '../record/archive';
import { useMembers } from '../record/directory';
import { rowsOf } from '../record/rest';
import { groupOf, groups, startOfDay, type Task } from './days';
import { t } from './messages';
import { shows, type Show } from './routes';
import { TaskForm } from './taskform';
import { TaskRow } from './taskrow';
import styles from './tasks.module.css';

/** Tasks lists what is to be done, by the day it is due. */
export function Tasks() {
  const { show = 'mine' } = useSearch({ from: '/app/tasks' });
  const may = useMay('member');
  const [form, setForm] = useState<Task | 'new' | null>(null);
  const actions = useTaskActions();
  const root = useRef<HTMLDivElement>(null);
  useCommands([
    ...(may
      ? [{ id: 'tasks.create', label: t('createTitle'), icon: 'plus' as const, keys: 'c', run: () => setForm('new') }]
      : []),
    { id: 'tasks.down', label: t('next'), keys: 'j', keyOnly: true, run: () => focusBy(root.current, 1) },
    { id: 'tasks.up', label: t('previous'), keys: 'k', keyOnly: true, run: () => focusBy(root.current, -1) },
    { id: 'tasks.tick', label: t('tick'), keys: 'x', keyOnly: true, run: () => within('[role=checkbox]') },
    { id: 'tasks.edit', label: t('editKey'), keys: 'e', keyOnly: true, run: () => within('[data-edit]') },
  ]);
  return (
    <>
      <PageHead title={t('title')}>
        {may && (
          <Button kind="primary" size="small" icon="plus" onClick={() => setForm('new')}>
            {t('create')}
          </Button>
        )}
      </PageHead>
      <nav className={styles.shows} aria-label={t('which')}>
        {shows.map((one) => (
          <Link
            key={one}
            to="/app/tasks"
            activeOptions={{ exact: true }}
            search={one === 'mine' ? {} : { show: one }}
            aria-current={one === show ? 'page' : undefined}
          >
            {t(one)}
          </Link>
        ))}
      </nav>
      <div className={styles.scroll} ref={root}>
        {!may && <p className={styles.note}>{t('viewer')}</p>}
        <TaskList key={show} show={show} onEdit={setForm} onNew={() => setForm('new')} actions={actions} />
      </div>
      {form !== null && <TaskForm task={form === 'new' ? null : form} onClose={() => setForm(null)} />}
    </>
  );
}

function TaskList({ show, onEdit, onNew, actions }: {
  show: Show;
  onEdit: (task: Task) => void;
  onNew: () => void;
  actions: ReturnType<typeof useTaskActions>;
}) {
  const may = useMay('member');
  const members = useMembers();
  const query = useQueryOf(show);
  const tasks = useList('/api/v1/crm/tasks', { query });
  const rows = rowsOf(tasks);
  if (tasks.error !== null && rows.length === 0) {
    return <Failure error={tasks.error} again={() => tasks.pages.retry()} />;
  }
  if (tasks.pending) {
    return (
      <div className={styles.skeletons}>
        {[72, 48, 60, 40].map((width) => (
          <Skeleton key={width} width={`${width}%`} />
        ))}
      </div>
    );
  }
  if (rows.length === 0 && tasks.complete) return <Empty show={show} {...(may && { onNew })} />;
  const now = new Date();
  const grouped =
    show === 'mine' || show === 'everyone'
      ? groups.map((group) => [group, rows.filter((task) => groupOf(task, now) === group)] as const)
      : [[null, rows] as const];
  const row = (task: Task) => (
    <TaskRow
      key={task.id}
      task={task}
      assignee={
        task.assignee_id === null || show === 'mine'
          ? null
          : { name: members.nameOf(task.assignee_id), fullName: members.fullNameOf(task.assignee_id) }
      }
      may={may}
      onTick={(done) => {
        tasks.pages.change((one) => (one.id === task.id ? null : undefined));
        actions.set(task, done ? 'done' : 'open');
      }}
      onEdit={() => onEdit(task)}
      onArchive={() => {
        tasks.pages.change((one) => (one.id === task.id ? null : undefined));
        actions.archive(task);
      }}
    />
  );
  return (
    <div className={styles.groups}>
      {grouped.map(([group, members]) =>
        members.length === 0 ? null : (
          <section key={group ?? 'all'} aria-label={group === null ? t(show) : t(group)}>
            {group !== null && (
              <h2 className={styles.group} data-late={group === 'overdue' || undefined}>
                {t(group)} <span className="num">{members.length.toLocaleString('en')}</span>
              </h2>
            )}
            <ul className={styles.list}>{members.map(row)}</ul>
          </section>
        ),
      )}
      {!tasks.complete && (
        <div>
          <Button size="small" onClick={() => tasks.pages.show(0, tasks.length - 1)}>
            {t('more')}
          </Button>
        </div>
      )}
    </div>
  );
}

/** useQueryOf returns what the API is asked for. The times are those of the day on which the list was opened. */
function useQueryOf(show: Show) {
  const own = useStore(useServices().session.state).grant?.user?.id;
  return useMemo(() => {
    const now = new Date();
    const open = { status: 'open' as const, sort: 'due_at' as const };
    switch (show) {
      case 'mine':
        return { ...open, ...(own !== undefined && { assignee_id: own }) };
      case 'everyone':
        return open;
      case 'due':
        return {
          ...open,
          due_after: new Date(startOfDay(now).getTime() - 1).toISOString(),
          due_before: startOfDay(now, 1).toISOString(),
        };
      case 'overdue':
        return { ...open, due_before: now.toISOString() };
      case 'done':
        return { status: 'done' as const, sort: '-created_at' as const };
    }
  }, [show, own]);
}

function Empty({ show, onNew }: { show: Show; onNew?: () => void }) {
  const texts: Record<Show, [title: string, help?: string]> = {
    mine: [t('emptyMine'), t('emptyMineHelp')],
    everyone: [t('emptyEveryone'), t('emptyEveryoneHelp')],
    due: [t('emptyDue')],
    overdue: [t('emptyOverdue'), t('emptyOverdueHelp')],
    done: [t('emptyDone')],
  };
  const [title, help] = texts[show];
  return (
    <EmptyState
      icon="tasks"
      title={title}
      {...(onNew !== undefined && show !== 'done' && { action: <Button onClick={onNew}>{t('create')}</Button> })}
      guide={{ label: t('guide'), href: '/docs' }}
    >
      {help}
    </EmptyState>
  );
}

/** useTaskActions returns what is done to a task from its row: each at once, with Undo. */
function useTaskActions() {
  const api = useApi();
  const scope = useScope();
  const refresh = () => invalidate(scope, '/api/v1/crm/tasks');
  const set = (task: Task, status: Task['status'], undoable = true) => {
    api
      .patch('/api/v1/crm/tasks/{id}', { path: { id: task.id }, body: { status }, idempotencyKey: randomId() })
      .then(() => {
        refresh();
        if (!undoable) return;
        const title = t(status === 'done' ? 'doneToast' : 'reopened', { title: task.title });
        toast({ title, onUndo: () => set(task, task.status, false) });
      })
      .catch((error: unknown) => {
        refresh();
        const { detail, request_id } = describe(error) ?? { detail: '', request_id: undefined };
        toast({ kind: 'bad', title: t('notSaved'), detail, ...(request_id !== undefined && { requestId: request_id }) });
      });
  };
  const archive = (task: Task) => {
    const path = { id: task.id };
    void archiveWithUndo(
      task.title,
      {
        archive: () => api.delete('/api/v1/crm/tasks/{id}', { path }),
        restore: () => api.post('/api/v1/crm/tasks/{id}/restore', { path, idempotencyKey: randomId() }),
      },
      refresh,
    ).then((done) => done || refresh());
  };
  return { set, archive };
}

/** Moves the focus between rows; to the first one from elsewhere. */
function focusBy(root: HTMLElement | null, by: number): void {
  const rows = [...(root?.querySelectorAll<HTMLElement>('[data-task]') ?? [])];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))]?.focus();
}

/** Presses the part of the row that has the focus. */
function within(selector: string): void {
  document.activeElement?.closest('[data-task]')?.querySelector<HTMLElement>(selector)?.click();
}
