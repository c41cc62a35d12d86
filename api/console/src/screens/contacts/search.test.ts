import { expect, test } from 'vitest';
import { isNarrowed, ofEmails, readSearch, toFilter, toQuery } from './search';

test('an address is read without what is malformed', () => {
  const raw = { q: 'ada', score: '40', from: '2026-02-31x', to: '2026-03-12', sort: 'phone', archived: 'yes', x: 1 };
  expect(readSearch(raw)).toEqual({ q: 'ada', score: 40, to: '2026-03-12' });
});

test('a number that was searched for stays a text', () => {
  expect(readSearch({ q: 4711 })).toEqual({ q: '4711' });
});

test('the order that is the default is not kept', () => {
  expect(readSearch({ sort: '-created_at' })).toEqual({});
  expect(readSearch({ sort: '-lead_score' })).toEqual({ sort: '-lead_score' });
});

test('days include their first and last moment', () => {
  const query = toQuery({ from: '2026-03-12', to: '2026-03-12' });
  expect(Date.parse(query.created_before ?? '') - Date.parse(query.created_after ?? '')).toBe(86_400_001);
});

test('the filter of a list selects what its parameters select', () => {
  expect(toFilter({ stage: 'lead,mql', score: 40, sort: 'email', open: 'x' })).toEqual({
    all: [
      { field: 'stage', op: 'in', value: ['lead', 'mql'] },
      { field: 'lead_score', op: 'gte', value: 40 },
    ],
  });
});

test('the filter of the whole list selects every contact', () => {
  expect(toFilter({})).toEqual({ all: [{ field: 'email', op: 'exists', value: true }] });
});

test('a list that is searched has no filter', () => {
  expect(toFilter({ q: 'ada' })).toBeNull();
});

test('more addresses than one condition holds are split', () => {
  const emails = Array.from({ length: 450 }, (_, i) => `${i}@example.com`);
  const filter = ofEmails(emails);
  if (!('any' in filter)) throw new Error('not split');
  expect(filter.any).toHaveLength(3);
});

test('order and panel do not narrow a list', () => {
  expect(isNarrowed({ sort: 'email', open: 'x' })).toBe(false);
  expect(isNarrowed({ tag: 'vip' })).toBe(true);
});
