import { expect, test } from 'vitest';
import { countResults } from './outcome';

test('contacts that are left out are counted by reason', () => {
  const skip = (reason: string | null) => ({ result: 'skipped' as const, reason });
  const results = [{ result: 'enrolled' as const, reason: null }, skip('suppressed'), skip('suppressed'), skip(null)];
  expect(countResults(results)).toEqual({ enrolled: 1, skipped: 3, reasons: { suppressed: 2, unknown: 1 } });
  expect(countResults([])).toEqual({ enrolled: 0, skipped: 0, reasons: {} });
});
