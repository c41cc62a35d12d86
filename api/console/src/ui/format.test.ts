import { expect, test } from 'vitest';
import { initials } from './avatar';
import { formatEstimate } from './estimate';
import { formatMoney } from './money';
import { relative } from './time';

const now = new Date('2026-03-12T12:00:00Z');
const before = (seconds: number) => relative(new Date(now.getTime() - seconds * 1000), now);

test('times are relative up to a week and dates after it', () => {
  expect(before(5)).toBe('just now');
  expect(before(300)).toBe('5 min ago');
  expect(before(-7200)).toBe('in 2 h');
  expect(before(3 * 86_400)).toBe('3 days ago');
  expect(before(40 * 86_400)).toBe('31 Jan 2026');
});

test('money is written with the digits of its currency', () => {
  expect(formatMoney(92_000, 'USD')).toBe('$920.00');
  expect(formatMoney(920, 'JPY')).toBe('¥920');
  expect(formatMoney(-1, 'USD')).toBe('-$0.01');
});

test('an estimate that says "more than 1,000" is no exact number', () => {
  expect([1000, 1001, 1002].map(formatEstimate)).toEqual(['1,000', '1,000+', '1,002']);
});

test('initials are letters of the first and the last word', () => {
  expect(initials('Ada King Lovelace')).toBe('AL');
  expect(initials('ada@example.com')).toBe('AC');
  expect(initials('田中 健一')).toBe('田');
  expect(initials('  ')).toBe('?');
});
