import { expect, test } from 'vitest';
import type { FilterJSON } from '../segments/filter';
import { readCheck, writeCheck } from './condition';

test('a fact is edited and written without a change', () => {
  const all: FilterJSON[] = [
    { field: 'replied', op: 'eq', value: true },
    { field: 'clicked', op: 'eq', value: false },
    { field: 'clicked_link', op: 'eq', value: 'https://example.com/offer' },
  ];
  for (const filter of all) {
    const check = readCheck(filter);
    if (check.kind === 'filter') throw new Error(`${JSON.stringify(filter)} is a fact`);
    expect(writeCheck(check)).toEqual(filter);
  }
});

test('what is more than one fact is a filter', () => {
  const all: FilterJSON[] = [
    { field: 'lead_score', op: 'gte', value: 60 },
    { field: 'clicked_link', op: 'in', value: ['https://example.com'] },
    { field: 'stage', op: 'eq', value: 'sql' },
    { any: [{ field: 'replied', op: 'eq', value: true }] },
  ];
  for (const filter of all) expect(readCheck(filter)).toEqual({ kind: 'filter' });
});
