import { expect, test } from 'vitest';
import { change, span, total } from './figures';

const now = new Date('2026-03-10T01:00:00Z');

test('a span has as many days as it says, today included', () => {
  expect(span(7, now)).toEqual({ from: '2026-03-04', to: '2026-03-10' });
});

test('the span before ends on the day before it begins', () => {
  expect(span(7, now, true)).toEqual({ from: '2026-02-25', to: '2026-03-03' });
});

test('a change is a share with its sign, and nothing where there was nothing', () => {
  expect([change(112, 100), change(50, 100), change(5, 0), change(7, 7), change(1001, 1000)]).toEqual([
    '+12 %',
    '−50 %',
    null,
    null,
    null,
  ]);
});

test('deals of all currencies are counted together', () => {
  expect(total([{ count: 2 }, { count: 3 }])).toBe(5);
});
