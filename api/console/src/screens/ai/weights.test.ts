import { expect, test } from 'vitest';
import { signed, strongest } from './weights';

const weight = (feature: string, value: number) => ({ feature, value: '*', weight: value, count: 1 });

test('the strongest weights come first, whatever their sign', () => {
  const shown = strongest([weight('a', 0.5), weight('b', -2), weight('c', 0.001), weight('d', 1)], 2);
  expect(shown.map(({ feature, share }) => [feature, share])).toEqual([
    ['b', 1],
    ['d', 0.5],
  ]);
});

test('a model without weights has none to show', () => {
  expect(strongest([weight('a', 0)], 5)).toEqual([]);
});

test('weights have a sign', () => {
  expect([0.42, -1.1].map(signed)).toEqual(['+0.42', '−1.10']);
});
