import { expect, test } from 'vitest';
import { searchOf, targetOf } from './search';

test('a whole address or domain narrows the list, a part of one does not', () => {
  expect(['Ada@Example.com ', 'example.com', 'ada@', 'exam', ''].map(searchOf)).toEqual([
    { email: 'ada@example.com' },
    { domain: 'example.com' },
    {},
    {},
    {},
  ]);
});

test('what has no @ within is a domain', () => {
  expect([targetOf('ada@example.com'), targetOf('@example.com'), targetOf(' example.com ')]).toEqual([
    { email: 'ada@example.com' },
    { domain: 'example.com' },
    { domain: 'example.com' },
  ]);
});
