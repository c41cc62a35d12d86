import { describe, expect, it } from 'vitest';
import { dayOf, periodOf, since, startOf } from './period';

describe('the period of the request log', () => {
  const now = new Date('2026-03-10T12:30:45Z');

  it('is the one that was chosen', () => {
    for (const period of ['any', 'hour', 'day'] as const) expect(periodOf(since(period, now), undefined, now)).toBe(period);
  });

  it('is a range with an end, or another beginning', () => {
    expect(periodOf(undefined, '2026-03-09T00:00:00Z', now)).toBe('range');
    expect(periodOf('2026-03-05T00:00:00Z', undefined, now)).toBe('range');
  });

  it('has local days, the last of which is included', () => {
    expect(dayOf(startOf('2026-03-09'))).toBe('2026-03-09');
    expect(dayOf(startOf('2026-03-09', 1), 1)).toBe('2026-03-09');
    expect(startOf('nonsense')).toBeUndefined();
    expect(dayOf('nonsense')).toBe('');
  });
});
