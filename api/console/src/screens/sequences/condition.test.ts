import { expect, test } from 'vitest';
import { readCheck, writeCheck, type Filter } from './condition';

const types: Readonly<Record<string, string>> = { lead_score: 'number', 'attributes.paid': 'boolean' };

test('a stored condition is edited and written without a change', () => {
  const all: Filter[] = [
    { field: 'replied', op: 'eq', value: true },
    { field: 'clicked', op: 'eq', value: false },
    { field: 'clicked_link', op: 'eq', value: 'https://example.com/offer' },
    { field: 'lead_score', op: 'gte', value: 60 },
    { field: 'attributes.paid', op: 'eq', value: true },
    { field: 'stage', op: 'eq', value: 'sql' },
    { field: 'stage', op: 'exists', value: true },
    { any: [{ field: 'stage', op: 'in', value: ['sql'] }] },
    { field: 'stage', op: 'in', value: ['sql', 'lead'] },
  ];
  for (const filter of all) expect(writeCheck(readCheck(filter), (field) => types[field])).toEqual(filter);
});

test('what is no object is not written', () => {
  for (const text of ['', '{', '[]', '3', 'null']) expect(writeCheck({ kind: 'json', text }, () => undefined)).toBeNull();
});

test('a number is written as one once it is typed whole', () => {
  const check = { kind: 'field', field: 'lead_score', op: 'gte', value: '6x' } as const;
  expect(writeCheck(check, (field) => types[field])).toMatchObject({ value: '6x' });
});
