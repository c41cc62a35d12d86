import { expect, test } from 'vitest';
import { parseFilter, since } from './filter';

test('a filter keeps what is valid and leaves out the rest', () => {
  expect(parseFilter({ status: 'failed', range: 'week', type: 'deal.won', webhook: 'w1', x: 1 })).toEqual({
    status: 'failed',
    range: 'week',
    type: 'deal.won',
    webhook: 'w1',
  });
  expect(parseFilter({ status: 'unknown', range: 7, type: '', webhook: {} })).toEqual({});
});

test('a range begins at a whole minute', () => {
  expect(since('hour', Date.parse('2026-11-23T06:30:22Z'))).toBe('2026-11-23T05:30:00.000Z');
});
