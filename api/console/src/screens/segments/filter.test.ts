import { expect, test } from 'vitest';
import {
  change,
  type Condition,
  faults,
  type FieldType,
  type FilterField,
  newCondition,
  newGroup,
  partAt,
  readFilter,
  refusedAt,
  withField,
  withOperator,
  writeFilter,
} from './filter';

const types: Record<string, FieldType> = {
  stage: 'key',
  lead_score: 'number',
  'attributes.paid': 'boolean',
  'attributes.since': 'date',
  tag: 'keys',
};
const typeOf = (field: string) => types[field];

function condition(field: string, op: string, ...values: string[]): Condition {
  return { kind: 'condition', id: `${field}-${op}`, negated: false, field, op, values };
}

const stored = {
  all: [
    { field: 'stage', op: 'in', value: ['sql', 'customer'] },
    { any: [{ field: 'lead_score', op: 'gte', value: 60.5 }, { field: 'attributes.paid', op: 'eq', value: false }] },
    { not: { field: 'tag', op: 'eq', value: 'do-not-call' } },
    { not: { any: [{ field: 'attributes.since', op: 'lt', value: '2026-01-02' }] } },
    { field: 'lead_score', op: 'exists', value: true },
  ],
};

test('a stored filter is edited and written without a change', () => {
  const group = readFilter(stored);
  if (group === null) throw new Error('not read');
  expect(writeFilter(group, typeOf).filter).toEqual(stored);
});

test('one condition is a group of one', () => {
  const group = readFilter({ field: 'stage', op: 'eq', value: 'lead' });
  expect(group?.mode).toBe('all');
  expect(group?.parts).toHaveLength(1);
});

test('two negations are none', () => {
  const group = readFilter({ not: { not: { all: [] } } });
  expect(group?.negated).toBe(false);
});

test('what is no filter is not read', () => {
  for (const value of [null, 3, [], {}, { all: [{ field: 1 }] }, { not: 'x' }]) expect(readFilter(value)).toBeNull();
});

test('an error is found at the part that its pointer is in', () => {
  const part = { ...condition('tag', 'eq', 'x'), negated: true };
  const inner = newGroup([condition('stage', 'eq', 'lead'), part], 'any');
  const group = newGroup([inner]);
  const written = writeFilter(group, typeOf);
  expect(partAt(written, '#/filter/all/0/any/1/not/value')).toBe(part.id);
  expect(partAt(written, '/filter/all/0/any/0/field')).toBe(inner.parts[0]?.id);
  expect(partAt(written, '#/filter')).toBe(group.id);
  expect(partAt(written, '#/name')).toBeUndefined();
  expect(partAt(written, '#/goal/all/0/any/0/field', '/goal')).toBe(inner.parts[0]?.id);
  const errors = [{ pointer: '#/filter/all/0/any/0/value', detail: 'No.' }, { pointer: '#/filters', detail: 'Other.' }];
  expect(refusedAt(written, errors, inner.parts[0]!.id)).toBe('No.');
  expect(refusedAt(written, errors, group.id)).toBeUndefined();
});

test('a missing value, a wrong number and an empty group are faults', () => {
  const empty = newGroup([]);
  const group = newGroup([
    condition('stage', 'eq'),
    condition('lead_score', 'gte', 'many'),
    condition('lead_score', 'lt', '12.5'),
    empty,
  ]);
  expect([...faults(group, typeOf)]).toEqual([
    ['stage-eq', 'value'],
    ['lead_score-gte', 'number'],
    [empty.id, 'empty'],
  ]);
});

test('the limits of the language are faults', () => {
  let deep = newGroup([condition('stage', 'eq', 'lead')]);
  for (let i = 0; i < 4; i++) deep = newGroup([deep]);
  expect(faults(deep, typeOf).size).toBe(0);
  expect([...faults(newGroup([deep]), typeOf).values()]).toEqual(['depth']);
  const many = newGroup(Array.from({ length: 51 }, (_, i) => ({ ...condition('stage', 'eq', 'x'), id: String(i) })));
  expect(faults(many, typeOf).get(many.id)).toBe('conditions');
  expect(faults(newGroup([condition('tag', 'in', ...Array<string>(201).fill('x'))]), typeOf).get('tag-in')).toBe('list');
});

test('a part is replaced and removed wherever it is', () => {
  const inner = condition('stage', 'eq', 'lead');
  const group = newGroup([newGroup([inner, condition('tag', 'eq', 'vip')])]);
  const renamed = change(group, inner.id, (part) => ({ ...part, negated: true }));
  expect(writeFilter(renamed, typeOf).filter).toEqual({
    all: [{ all: [{ not: { field: 'stage', op: 'eq', value: 'lead' } }, { field: 'tag', op: 'eq', value: 'vip' }] }],
  });
  expect(writeFilter(change(group, inner.id, () => null), typeOf).filter).toEqual({
    all: [{ all: [{ field: 'tag', op: 'eq', value: 'vip' }] }],
  });
});

const text = (field: string): FilterField => ({ field, type: 'text', operators: ['eq', 'in', 'exists', 'contains'] });
const stage: FilterField = { field: 'stage', type: 'key', operators: ['eq', 'in', 'exists'], values: ['lead'] };

test('another field keeps what it can take', () => {
  const named = { ...condition('email', 'contains', 'acme'), id: 'x' };
  expect(withField(named, text('email'), text('phone'))).toMatchObject({ field: 'phone', op: 'contains', values: ['acme'] });
  expect(withField(named, text('email'), stage)).toMatchObject({ field: 'stage', op: 'eq', values: [] });
  expect(newCondition(stage)).toMatchObject({ op: 'eq', values: [] });
});

test('another operator keeps the values that it takes', () => {
  const list = condition('stage', 'in', 'lead', 'sql');
  expect(withOperator(list, 'eq').values).toEqual(['lead']);
  expect(withOperator(list, 'exists').values).toEqual(['true']);
  expect(withOperator(withOperator(list, 'exists'), 'eq').values).toEqual([]);
});
