import { describe, expect, it } from 'vitest';
import { offsetFor, rangeAt } from './window';

describe('rangeAt', () => {
  const rows = { count: 10_000, height: 40 };
  it('has the rows in view and eight on each side', () => {
    expect(rangeAt(4000, 400, rows)).toEqual({ first: 92, end: 118 });
  });
  it('has rows that are in view in part', () => {
    expect(rangeAt(4020, 400, rows)).toEqual({ first: 92, end: 119 });
  });
  it('ends with the list', () => {
    expect(rangeAt(399_600, 400, rows)).toEqual({ first: 9982, end: 10_000 });
  });
  it('has the last rows when the list became shorter than the offset', () => {
    expect(rangeAt(399_600, 400, { count: 3, height: 40 })).toEqual({ first: 2, end: 3 });
  });
  it('is empty without rows', () => {
    expect(rangeAt(0, 400, { count: 0, height: 40 })).toEqual({ first: 0, end: 0 });
  });
  it('takes a bounce above the top for the top', () => {
    expect(rangeAt(-60, 400, rows)).toEqual(rangeAt(0, 400, rows));
  });
});

describe('offsetFor', () => {
  const box = { offset: 1000, size: 440, head: 40 };
  it('stays where the row is in view', () => {
    expect(offsetFor(30, 40, box)).toBe(1000);
  });
  it('puts a row above below the sticky head', () => {
    expect(offsetFor(10, 40, box)).toBe(400);
  });
  it('puts a row below at the bottom', () => {
    expect(offsetFor(40, 40, box)).toBe(1240);
  });
});
