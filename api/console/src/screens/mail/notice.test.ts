import { expect, test } from 'vitest';
import { readNotice } from './notice';

test('the frame tells that it is ready, or how high its mail is', () => {
  expect(readNotice('ready')).toBe('ready');
  expect(readNotice({ height: 120.2, left: 3 })).toEqual({ height: 121, left: 3 });
  expect(readNotice({ height: 1e9, left: 0 })).toEqual({ height: 20_000, left: 0 });
});

test('anything else that a frame posts is ignored', () => {
  for (const data of ['', null, 3, {}, { height: '1', left: 0 }, { height: NaN, left: 0 }, { height: -1, left: 0 }]) {
    expect(readNotice(data)).toBeNull();
  }
});
