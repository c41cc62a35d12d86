import { expect, test } from 'vitest';
import { formatMoney, formatTime, toMinorUnits } from './intl';
import { messages } from './messages';
import { localPath } from './next';

test('times are relative up to a week, then days', () => {
  const now = new Date('2026-03-20T12:00:00Z');
  const texts = [
    '2026-03-20T11:59:40Z',
    '2026-03-20T11:57:00Z',
    '2026-03-20T09:00:00Z',
    '2026-03-19T09:00:00Z',
    '2026-03-12T12:00:00Z',
    '2026-03-20T14:30:00Z',
  ];
  expect(texts.map((at) => formatTime(at, now))).toEqual([
    'just now',
    '3 minutes ago',
    '3 hours ago',
    'yesterday',
    '12 Mar 2026',
    'in 2 hours',
  ]);
});

test('money has the digits of its currency', () => {
  expect([formatMoney(92000, 'USD'), formatMoney(500, 'JPY'), formatMoney(-1, 'EUR')]).toEqual([
    '$920.00',
    '¥500',
    '-€0.01',
  ]);
  expect(['1,250.5', '920', '0.01', '1.005', 'x', '12,34', ''].map((text) => toMinorUnits(text, 'USD'))).toEqual([
    125050,
    92000,
    1,
    null,
    null,
    null,
    null,
  ]);
  expect(toMinorUnits('500', 'JPY')).toBe(500);
});

test('messages have their values and plural forms', () => {
  const t = messages({
    found: { one: '{count} contact of {org}', other: '{count} contacts of {org}' },
    plain: 'Hello',
  });
  expect([t('found', { count: 1, org: 'Acme' }), t('found', { count: 1200, org: 'Acme' }), t('plain')]).toEqual([
    '1 contact of Acme',
    '1,200 contacts of Acme',
    'Hello',
  ]);
});

test('sign-in leads on to addresses of the console only', () => {
  const origin = 'https://crm.example';
  const nexts = [
    '/app/contacts?q=a#b',
    'https://crm.example/app',
    'https://evil.example/app',
    '//evil.example/app',
    '/\\evil.example/app',
    'javascript:alert(1)',
    '/login',
    '/application',
    '',
    undefined,
    'http://[',
  ];
  expect(nexts.map((next) => localPath(next, origin))).toEqual([
    '/app/contacts?q=a#b',
    '/app',
    ...Array(9).fill('/app'),
  ]);
});
