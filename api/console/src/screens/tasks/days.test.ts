import { expect, test } from 'vitest';
import { dayOf, endOfDay, groupOf } from './days';

const now = new Date(2026, 10, 23, 14, 0);
const at = (day: number, hour = 12) => ({ due_at: new Date(2026, 10, day, hour).toISOString() });

test('a task stands under the day that it is due on', () => {
  expect([at(22), at(23, 13), at(23, 18), at(24), at(30), at(31), { due_at: null }].map((one) => groupOf(one, now))).toEqual([
    'overdue',
    'overdue',
    'today',
    'week',
    'week',
    'later',
    'someday',
  ]);
});

test('a due day lasts until its end, and is read back as the same day', () => {
  const end = endOfDay('2026-11-23');
  expect(new Date(end).getTime()).toBe(new Date(2026, 10, 23, 23, 59, 59).getTime());
  expect(dayOf(end)).toBe('2026-11-23');
  expect(dayOf(null)).toBe('');
});
