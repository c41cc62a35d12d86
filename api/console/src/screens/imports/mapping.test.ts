import { expect, test } from 'vitest';
import { attributeOf, faultsOf, guess, guessAll } from './mapping';

test('common names of columns are known', () => {
  expect(['E-Mail', 'First Name', 'surname', 'Lead Source', 'Tags', 'Mobile'].map(guess)).toEqual([
    'email',
    'first_name',
    'last_name',
    'source',
    'tag',
    'phone',
  ]);
});

test('other columns become custom fields, and computed ones are left out', () => {
  expect(guess('Renewal day')).toBe('attributes.Renewal day');
  expect(guess('attributes.plan')).toBe('attributes.plan');
  expect(guess('a/b')).toBe('attributes.a_b');
  expect([guess('lead_score'), guess('id'), guess('')]).toEqual([null, null, null]);
  expect(attributeOf('x'.repeat(65))).toBeNull();
});

test('the first of two columns for one field has it, and the other is a field of its own', () => {
  expect([...guessAll(['mail', 'email', '', 'note'])]).toEqual([
    ['mail', 'email'],
    ['email', 'attributes.email'],
    ['note', 'attributes.note'],
  ]);
});

test('a mapping needs an address, and no field twice', () => {
  expect(faultsOf(new Map([['a', 'phone'], ['b', null]]))).toEqual(['noEmail']);
  expect(faultsOf(new Map([['a', 'email'], ['b', 'email']]))).toEqual([{ twice: 'email' }]);
  expect(faultsOf(new Map([['a', 'id']]))).toEqual([]);
});
