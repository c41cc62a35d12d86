import { expect, test } from 'vitest';
import { changesOf, subjectOf } from './words';

test('an event is named after its person, its name or its id', () => {
  expect(subjectOf({ id: 'x', first_name: 'Ada', last_name: 'Lovelace', email: 'a@example.com' })).toBe('Ada Lovelace');
  expect(subjectOf({ id: 'x', first_name: '', name: 'Acme' })).toBe('Acme');
  expect(subjectOf({ id: '01a20719-3567-7ead' })).toBe('…567-7ead');
});

test('the changed fields have both values', () => {
  const changes = changesOf({ object: { stage: 'customer', tag: ['a'] }, previous: { stage: 'lead', tag: null } });
  expect(changes).toEqual([
    { field: 'stage', before: 'lead', after: 'customer' },
    { field: 'tag', before: '–', after: '["a"]' },
  ]);
  expect(changesOf({ object: {}, previous: null })).toEqual([]);
});
