import { expect, test } from 'vitest';
import { fromLocal, toLocal } from './local';

test('a local time leads back to the same minute', () => {
  const at = new Date(2026, 2, 9, 7, 5);
  expect(toLocal(at)).toBe('2026-03-09T07:05');
  expect(fromLocal(toLocal(at))).toBe(at.toISOString());
});

test('what is no time stays as typed', () => {
  expect(fromLocal('')).toBe('');
});
