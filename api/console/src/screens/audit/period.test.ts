import { expect, test } from 'vitest';
import { periodOf, since, startOf } from './period';

const now = new Date('2026-03-20T12:34:56Z');

test('a period that was chosen is found again in its address', () => {
  const periods = (['any', 'day', 'week', 'month'] as const).map((period) => periodOf(since(period, now), now));
  expect(periods).toEqual(['any', 'day', 'week', 'month']);
});

test('another start is a range', () => {
  expect(periodOf('2026-01-01T00:00:00Z', now)).toBe('range');
});

test('a range holds the whole of its last day', () => {
  const start = Date.parse(startOf('2026-03-10') ?? '');
  const end = Date.parse(startOf('2026-03-10', 1) ?? '');
  expect(end - start).toBe(24 * 3_600_000);
  expect(startOf('')).toBeUndefined();
});
