import { expect, test } from 'vitest';
import { formatSize } from './size';

test('a size has the unit that people read', () => {
  expect([formatSize(12), formatSize(1500), formatSize(2_340_000)]).toEqual(['12 B', '2 kB', '2.3 MB']);
});
