import { IconButton } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { cx } from '@/ui/cx';
import { Avatar } from '@/ui/avatar';
import { Menu } from '@/ui/menu';
import { Badge } from '@/ui/status';
import { date } from '@/ui/time';
import { GoLink } from '../record/golink';
import type { Task } from './days';
import { t } from './messages';
import styles from './tasks.module.css';

/** TaskRow is one task: ticked when it is done, edited by its name. */
export function TaskRow({ task, assignee, may, onTick, onEdit, onArchive }: {
  task: Task;
  /** The name of who does it, where that is not clear. */
  assignee: { name: string; fullName: string } | null;
  may: boolean;
  onTick: (done: boolean) => void;
  onEdit: () => void;
  onArchive: () => void;
}) {
  const done = task.status === 'done';
  const late = !done && task.due_at !== null && Date.parse(task.due_at) < Date.now();
  const about = aboutOf(task);
  return (
    <li className={styles.task} data-task tabIndex={-1}>
      <Checkbox
        label={t('markDone', { title: task.title })}
        hideLabel
        checked={done}
        disabled={!may}
        onChange={onTick}
      />
      <div className={styles.text}>
        {may ? (
          <button type="button" className={cx(styles.title, done && styles.done)} data-edit onClick={onEdit}>
            {task.title}
          </button>
        ) : (
          <span className={cx(styles.title, done && styles.done)}>{task.title}</span>
        )}
        {task.description !== null && <p className={styles.description}>{task.description}</p>}
      </div>
      <div className={styles.meta}>
        {task.priority === 'high' && !done && <Badge tone="warn">{t('high')}</Badge>}
        {about !== null && <GoLink href={about.href}>{about.label}</GoLink>}
        {task.due_at !== null && (
          <span className={cx('num', late && styles.late)}>{date(new Date(task.due_at))}</span>
        )}
        {assignee !== null && (
          <span className={styles.who}>
            <Avatar name={assignee.fullName} /> {assignee.name}
          </span>
        )}
      </div>
      {may && (
        <Menu
          align="end"
          trigger={<IconButton icon="more" label={t('actions', { title: task.title })} tooltip={false} />}
          items={[
            { label: t('edit'), icon: 'edit', keys: 'e', onSelect: onEdit },
            { label: t('archive'), icon: 'archive', danger: true, onSelect: onArchive },
          ]}
        />
      )}
    </li>
  );
}

/** aboutOf returns the record that a task is about. */
function aboutOf(task: Task): { href: string; label: string } | null {
  if (task.deal_id !== null) return { href: `/app/deals/${task.deal_id}`, label: t('deal') };
  if (task.contact_id !== null) return { href: `/app/contacts/${task.contact_id}`, label: t('contact') };
  if (task.company_id !== null) return { href: `/app/companies/${task.company_id}`, label: t('company') };
  return null;
}
