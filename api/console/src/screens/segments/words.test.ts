import { expect, test } from 'vitest';
import { readFilter } from './filter';
import { fieldWord, operatorOf, operatorsOf, sentence, type Names } from './words';

const names: Names = {
  field: (field) => fieldWord(field, new Map([['plan', 'Their plan']])),
  type: (field) => (field === 'created_at' ? 'time' : 'text'),
  value: (_, value) => value.toUpperCase(),
};

test('a filter reads as a sentence', () => {
  const group = readFilter({
    all: [
      { field: 'stage', op: 'in', value: ['sql', 'mql'] },
      { any: [{ field: 'attributes.plan', op: 'contains', value: 'pro' }, { field: 'phone', op: 'exists', value: false }] },
      { not: { field: 'tag', op: 'eq', value: 'cold' } },
      { not: { any: [{ field: 'created_at', op: 'lt', value: '2026' }] } },
    ],
  });
  if (group === null) throw new Error('not read');
  expect(sentence(group, names)).toBe(
    'Stage is any of SQL, MQL and (Their plan contains PRO or Phone is unknown) and not Tag is COLD and none of (Created is before 2026)',
  );
});

test('known and unknown are two operators', () => {
  const all = operatorsOf({ type: 'date', operators: ['eq', 'gt', 'exists'] });
  expect(all.map((one) => one.label)).toEqual(['is', 'is after', 'is known', 'is unknown']);
  expect(operatorOf({ op: 'exists', values: ['false'] })).toBe('missing');
  expect(operatorOf({ op: 'exists', values: ['true'] })).toBe('exists');
});
