import { expect, test } from 'vitest';
import { fallsOf, signed } from './waterfall';

const reason = (feature: string, points: number) => ({ feature, value: '', points });

test('the sum of the points is exact', () => {
  const reasons = [reason('base', 11.72), reason('stage', 32.28), ...Array.from({ length: 100 }, () => reason('x', 0.07))];
  expect(fallsOf(reasons).sum).toBe(51);
});

test('each bar begins where the one before it ends', () => {
  const { falls } = fallsOf([reason('base', 20.1), reason('stage', 30.2), reason('phone', -5.05)]);
  expect(falls.map(({ from, to }) => [from, to])).toEqual([
    [0, 20.1],
    [20.1, 50.3],
    [50.3, 45.25],
  ]);
});

test('the scale holds every sum on the way', () => {
  const { low, high } = fallsOf([reason('base', 10), reason('a', -30), reason('b', 120)]);
  expect([low, high]).toEqual([-20, 100]);
});

test('points have a sign', () => {
  expect([4.5, -3, 0, -0.001].map(signed)).toEqual(['+4.50', '−3.00', '0.00', '0.00']);
});
