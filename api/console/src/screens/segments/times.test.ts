import { expect, test } from 'vitest';
import { fromLocal, toLocal } from './times';

test('a time comes back from the input that shows it', () => {
  for (const time of ['2026-03-12T14:05:00.000Z', '2026-07-31T23:59:00.000Z']) expect(fromLocal(toLocal(time))).toBe(time);
});

test('what is no time is empty', () => {
  expect([toLocal(''), toLocal('soon'), fromLocal('')]).toEqual(['', '', '']);
});
