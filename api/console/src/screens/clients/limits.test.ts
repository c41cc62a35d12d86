import { expect, test } from 'vitest';
import { limitsOf, readLimit } from './limits';

test('limits that an agency has can be passed on', () => {
  expect(
    limitsOf({
      sequences: { type: 'boolean', value: true },
      webhooks: { type: 'limit', value: null },
      contacts: { type: 'limit', value: 5000 },
      members: { type: 'limit', value: 0 },
      max_client_orgs: { type: 'limit', value: 10 },
    }),
  ).toEqual([
    { key: 'contacts', own: 5000 },
    { key: 'webhooks', own: null },
  ]);
});

test('a limit is a whole number or nothing', () => {
  expect(['', ' 1,500 ', '0', '-1', '1.5', 'many'].map(readLimit)).toEqual([null, 1500, 0, undefined, undefined, undefined]);
});
