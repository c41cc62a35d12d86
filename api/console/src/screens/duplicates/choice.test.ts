import { expect, test } from 'vitest';
import type { Contact } from '../record/types';
import { byRule, changesFor, fieldsOf, united, valueOf } from './choice';

const empty: Contact = {
  id: '',
  email: '',
  first_name: '',
  last_name: '',
  phone: null,
  job_title: null,
  company_id: null,
  external_ids: {},
  owner_id: null,
  stage: 'lead',
  source: null,
  country: null,
  time_zone: null,
  consent: null,
  attributes: {},
  tag: [],
  segment: [],
  lead_score: 0,
  score: { confidence: 'prior', model_version: 'prior-1', probability: 0 },
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  archived_at: null,
};
const ada: Contact = { ...empty, id: 'a', first_name: 'Ada', phone: '1', tag: ['vip'], attributes: { seats: 3 } };
const bea: Contact = {
  ...empty,
  id: 'b',
  first_name: 'Ada',
  phone: '2',
  job_title: 'Head',
  tag: ['fair', 'vip'],
  attributes: { seats: 5, plan: 'pro' },
};

test('fields without a value are left out, and those that differ come first', () => {
  expect(fieldsOf([ada, bea])).toEqual([
    { field: 'phone', differs: true },
    { field: 'attributes.seats', differs: true },
    { field: 'first_name', differs: false },
    { field: 'job_title', differs: false },
    { field: 'stage', differs: false },
    { field: 'attributes.plan', differs: false },
  ]);
});

test('a merge keeps what the survivor has and fills what it lacks', () => {
  expect(byRule([ada, bea], 'a')).toMatchObject({ phone: 'a', job_title: 'b', 'attributes.plan': 'b' });
  expect(byRule([ada, bea], 'b')).toMatchObject({ phone: 'b', 'attributes.seats': 'b' });
});

test('only what differs from the rule is changed after the merge', () => {
  const rule = byRule([ada, bea], 'a');
  expect(changesFor([ada, bea], 'a', rule)).toBeNull();
  expect(changesFor([ada, bea], 'a', { ...rule, phone: 'b', 'attributes.seats': 'b', first_name: 'b' })).toEqual({
    phone: '2',
    attributes: { seats: 5 },
  });
});

test('tags are united, and values are texts', () => {
  expect(united([ada, bea], 'tag')).toEqual(['fair', 'vip']);
  expect([valueOf(ada, 'attributes.seats'), valueOf(ada, 'country')]).toEqual(['3', null]);
});
