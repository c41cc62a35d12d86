import { expect, test } from 'vitest';
import { keyOf } from './key';

test('a key is suggested from a name', () => {
  expect(keyOf('Renewal day')).toBe('renewal_day');
  expect(keyOf('  Größe (in m²) ')).toBe('große_in_m2');
  expect(keyOf('a/b')).toBe('a_b');
  expect(keyOf('…')).toBe('');
  expect(keyOf('x'.repeat(80))).toHaveLength(64);
});
