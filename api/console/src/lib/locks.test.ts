import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { leases } from './locks';
import { wait } from './wait';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a lease is held by one tab at a time', async () => {
  localStorage.clear();
  let holders = 0;
  let most = 0;
  let done = 0;
  const work = async () => {
    most = Math.max(most, ++holders);
    await wait(10_000); // longer than a lease, which is renewed
    holders--;
    done++;
  };
  for (let i = 0; i < 5; i++) void leases(localStorage).exclusive('x', work);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([most, done]).toEqual([1, 5]);
});

test('the lease of a tab that is gone passes on', async () => {
  localStorage.setItem('x.lease', `gone ${Date.now() + 6000}`);
  const got = vi.fn(async () => {});
  void leases(localStorage).exclusive('x', got);
  await vi.advanceTimersByTimeAsync(5000);
  expect(got).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(2000);
  expect(got).toHaveBeenCalledOnce();
});
