import { expect, test } from 'vitest';
import { byPlatform } from './platforms';
import { readSearch } from './search';

test('the result of a login is read, and nothing else', () => {
  expect(readSearch({ status: 'pending', pending_id: 'p1', code: 'x' })).toEqual({ status: 'pending', pending_id: 'p1' });
  expect(readSearch({ status: 'pending' })).toEqual({});
  expect(readSearch({ status: 'denied', pending_id: 'p1' })).toEqual({ status: 'denied' });
  expect(readSearch({ status: 'other' })).toEqual({});
});

test('accounts are grouped by platform in the order in which platforms are offered', () => {
  const groups = byPlatform([
    { platform: 'x_ads' as const, id: 1 },
    { platform: 'linkedin' as const, id: 2 },
    { platform: 'facebook' as const, id: 3 },
    { platform: 'linkedin' as const, id: 4 },
  ]);
  expect(groups.map(({ platform, accounts }) => [platform, accounts.map(({ id }) => id)])).toEqual([
    ['facebook', [3]],
    ['linkedin', [2, 4]],
    ['x_ads', [1]],
  ]);
});
