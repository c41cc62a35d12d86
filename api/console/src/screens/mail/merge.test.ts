import { expect, test } from 'vitest';
import { insertAt, mergeFields } from './merge';

test('a merge field replaces what is selected', () => {
  expect(insertAt('Hi X!', '{{ f }}', 3, 4)).toEqual({ text: 'Hi {{ f }}!', cursor: 10 });
  expect(insertAt('', '{{ f }}', 0, 0)).toEqual({ text: '{{ f }}', cursor: 7 });
});

test('every merge field is written as the service reads it', () => {
  for (const { text } of Object.values(mergeFields).flat()) {
    expect(text).toMatch(/^\{\{ [a-z_]+(\.[a-z_]+)?( \| default: "[^"]*")? \}\}$/);
  }
});
