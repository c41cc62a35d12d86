import { expect, test } from 'vitest';
import { groupTypes, nounOf, toggleGroup, toggleType } from './types';

const all = [
  { type: 'contact.created', description: 'A contact was created.' },
  { type: 'deal.won', description: 'A deal was won.' },
  { type: 'contact.merged', description: 'Contacts became one.' },
];

test('types are grouped by noun, and the search finds types and descriptions', () => {
  expect(groupTypes(all).map(({ noun, types }) => [noun, types.length])).toEqual([
    ['Contact', 2],
    ['Deal', 1],
  ]);
  expect(groupTypes(all, ' became ').flatMap(({ types }) => types)).toEqual([all[2]]);
});

test('a noun of several words is readable', () => {
  expect(nounOf('social_account.reauth_required')).toBe('Social account');
});

test('choosing a group keeps the types of other groups', () => {
  const contacts = all.filter(({ type }) => type.startsWith('contact.'));
  expect(toggleGroup(['deal.won', 'contact.created'], contacts, true)).toEqual([
    'deal.won',
    'contact.created',
    'contact.merged',
  ]);
  expect(toggleGroup(['deal.won', 'contact.created'], contacts, false)).toEqual(['deal.won']);
  expect(toggleType(['deal.won'], 'deal.won', true)).toEqual(['deal.won']);
});
