import { expect, test } from 'vitest';
import { formatBytes, importState, targetWord } from './words';

test('sizes have a unit', () => {
  expect([0, 999, 1234, 1_250_000, 512_000_000].map(formatBytes)).toEqual([
    '0 bytes',
    '999 bytes',
    '1.2 kB',
    '1.3 MB',
    '512 MB',
  ]);
});

test('the undo of an import is its state', () => {
  const undo = { contacts_archived: 1, contacts_left: 0, contacts_restored: 0, completed_at: null };
  expect(importState({ status: 'completed', undo: null }).word).toBe('Completed');
  expect(importState({ status: 'completed', undo: { ...undo, status: 'running' } }).word).toBe('Undoing');
  expect(importState({ status: 'completed', undo: { ...undo, status: 'completed' } }).word).toBe('Undone');
  expect(importState({ status: 'completed', undo: { ...undo, status: 'failed' } }).word).toBe('Completed');
});

test('a column becomes a field of the contact, a custom one or a new one', () => {
  const custom = new Map([['plan', 'Plan']]);
  expect(targetWord('first_name', custom)).toBe('First name');
  expect(targetWord('attributes.plan', custom)).toBe('Field “Plan”');
  expect(targetWord('attributes.seats', custom)).toBe('New field “seats”');
});
