import { expect, test } from 'vitest';
import { choose, mostBytes, mostFiles, shortName, toBase64 } from './attachments';
import { findingsFor } from './findings';
import { safeLink, typedLink } from './links';
import { choicesFrom, dayOf, momentOf } from './when';

test('a link leads to a page, an address, a number or a page of the service', () => {
  expect(
    ['example.com', 'https://a.example/b?c=d', 'ada@a.example', 'tel:+44123', '{{ unsubscribe_url }}'].map(typedLink),
  ).toEqual([
    'https://example.com',
    'https://a.example/b?c=d',
    'mailto:ada@a.example',
    'tel:+44123',
    '{{ unsubscribe_url }}',
  ]);
  for (const bad of ['', 'hello', 'javascript:alert(1)', 'data:text/html,x', '//a.example', 'a b.com', 'file:///x']) {
    expect(typedLink(bad), bad).toBeNull();
    expect(safeLink(bad), bad).toBeNull();
  }
});

test('files fit until there are too many or too much', () => {
  const file = (name: string, size: number) => ({ name, size });
  expect(choose([], [file('a', mostBytes), file('b', 1), file('c', 0)])).toEqual({
    taken: [file('a', mostBytes), file('c', 0)],
    refused: [{ name: 'b', reason: 'tooLarge' }],
  });
  expect(choose([file('x', mostBytes - 1)], [file('a', 1)]).taken).toHaveLength(1);
  const many = Array.from({ length: mostFiles }, (_, i) => file(String(i), 1));
  expect(choose(many, [file('a', 1)])).toEqual({ taken: [], refused: [{ name: 'a', reason: 'tooMany' }] });
});

test('the name of a file keeps its ending', () => {
  expect(shortName('a.pdf')).toBe('a.pdf');
  expect(shortName('')).toBe('file');
  const long = shortName(`${'ä'.repeat(300)}.pdf`);
  expect([[...long].length, long.endsWith('ä.pdf')]).toEqual([200, true]);
});

test('bytes become base64 in parts', () => {
  const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => i % 251);
  expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
  expect(toBase64(new Uint8Array())).toBe('');
});

test('mail to one contact needs no link to unsubscribe', () => {
  const finding = (code: string, severity: 'error' | 'warning' | 'info') => ({
    code,
    severity,
    pointer: '/html',
    message: code,
  });
  const found = findingsFor([
    finding('unsubscribe_missing', 'warning'),
    finding('markup_removed', 'info'),
    finding('link_differs', 'warning'),
    finding('merge_missing', 'error'),
    finding('fallback_missing', 'warning'),
  ]);
  expect(found.map(({ code }) => code)).toEqual(['merge_missing', 'link_differs', 'markup_removed']);
});

test('later is tomorrow morning, or the next Monday', () => {
  const names = (now: Date) => choicesFrom(now).map(({ name, at }) => `${name} ${dayOf(at)} ${at.getHours()}`);
  expect(names(new Date(2026, 10, 25, 16))).toEqual(['tomorrow 2026-11-26 9', 'monday 2026-11-30 9']); // a Wednesday
  expect(names(new Date(2026, 10, 29, 16))).toEqual(['tomorrow 2026-11-30 9']); // a Sunday
  expect(names(new Date(2026, 10, 30, 8))).toEqual(['tomorrow 2026-12-01 9', 'monday 2026-12-07 9']); // a Monday
  expect(names(new Date(2026, 11, 31, 23))).toEqual(['tomorrow 2027-01-01 9', 'monday 2027-01-04 9']);
});

test('mail is scheduled for a moment that is still to come', () => {
  const now = new Date(2026, 10, 25, 16);
  expect(momentOf('2026-11-25', '16:01', now)).toEqual(new Date(2026, 10, 25, 16, 1));
  for (const [day, time] of [['2026-11-25', '16:00'], ['2026-11-24', '18:00'], ['', '16:00'], ['2026-11-25', '']]) {
    expect(momentOf(day ?? '', time ?? '', now)).toBeNull();
  }
});
