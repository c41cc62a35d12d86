import type { Result } from '@/lib/operations';

export type Task = Result<'get', '/api/v1/crm/tasks/{id}'>;

export const groups = ['overdue', 'today', 'week', 'later', 'someday'] as const;
export type Group = (typeof groups)[number];

/** startOfDay returns the first moment of the day that is days after now's, in the person's own time zone. */
export function startOfDay(now: Date, days = 0): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + days);
}

/** groupOf returns under which heading an open task stands. A task that is due today is overdue when its time passed. */
export function groupOf(task: Pick<Task, 'due_at'>, now: Date): Group {
  if (task.due_at === null) return 'someday';
  const due = new Date(task.due_at);
  if (due < now) return 'overdue';
  if (due < startOfDay(now, 1)) return 'today';
  return due < startOfDay(now, 8) ? 'week' : 'later';
}

/** A task that is due on a day may be done until that day ends. */
export function endOfDay(day: string): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date, 23, 59, 59).toISOString();
}

/** dayOf returns the day of a time as a date field has it. */
export function dayOf(at: string | null): string {
  if (at === null) return '';
  const when = new Date(at);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${when.getFullYear()}-${two(when.getMonth() + 1)}-${two(when.getDate())}`;
}
