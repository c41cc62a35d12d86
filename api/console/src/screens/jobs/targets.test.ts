import { expect, test } from 'vitest';
import { isActive, pageOf } from './targets';

test('a replay leads to its webhook', () => {
  expect(pageOf({ kind: 'replay', href: '/api/v1/webhooks/w1/replays/r1' })?.href).toBe(
    '/app/settings/integrations/webhooks/w1',
  );
});

test('an import leads to its page', () => {
  expect(pageOf({ kind: 'import', href: '/api/v1/crm/contacts/imports/i1' })?.href).toBe('/app/imports/i1');
});

test('an export has a file and no page', () => {
  expect(pageOf({ kind: 'export', href: '/api/v1/crm/contacts/exports/e1' })).toBeNull();
});

test('only what is queued or running changes by itself', () => {
  const states = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
  expect(states.filter((status) => isActive({ status }))).toEqual(['queued', 'running']);
});
