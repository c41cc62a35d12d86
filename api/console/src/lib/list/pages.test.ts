import { expect, test } from 'vitest';
import { type Page, Pages } from './pages';

/** A list of numbers with keyset cursors, as the API has them. */
function fakeList(rows: number[], size = 10) {
  const list = {
    rows,
    loads: [] as (string | null)[],
    fail: false,
    load: async (cursor: string | null): Promise<Page<number>> => {
      list.loads.push(cursor);
      await Promise.resolve();
      if (list.fail) throw new Error('away');
      const from = list.rows.filter((row) => cursor === null || row > Number(cursor));
      const data = from.slice(0, size);
      const more = from.length > size;
      return { data, has_more: more, next_cursor: more ? String(data.at(-1)) : null, total: list.rows.length };
    },
  };
  return list;
}

const settle = () => new Promise((resolve) => setTimeout(resolve));
const numbers = (n: number) => Array.from({ length: n }, (_, i) => i);
const rowsOf = (pages: Pages<number>, from: number, to: number) =>
  numbers(to - from).map((i) => pages.get().row(from + i));

test('a list loads what is shown and half a page ahead', async () => {
  const list = fakeList(numbers(100));
  const pages = new Pages(list);
  expect(pages.get().pending).toBe(true);
  pages.show(0, 4);
  await settle();
  expect(list.loads).toEqual([null]);
  expect(pages.get()).toMatchObject({ length: 11, complete: false, total: 100, pending: false });
  pages.show(0, 12);
  await settle();
  expect(rowsOf(pages, 0, 20)).toEqual(numbers(20));
});

test('a long list keeps 20 pages and loads dropped ones again by their cursors', async () => {
  const list = fakeList(numbers(1000));
  const pages = new Pages(list);
  for (let at = 0; at < 1000; at += 5) {
    pages.show(at, at + 5);
    await settle();
  }
  expect(pages.get()).toMatchObject({ length: 1000, complete: true });
  expect(numbers(1000).filter((i) => pages.get().row(i) !== undefined).length).toBe(200);
  expect(pages.get().row(5)).toBeUndefined();
  const before = list.loads.length;
  pages.show(500, 509);
  await settle();
  expect(rowsOf(pages, 500, 510)).toEqual(numbers(10).map((i) => i + 500));
  expect(list.loads.length - before).toBe(2);
});

test('a refresh at the top shows new rows and leaves no gap', async () => {
  const list = fakeList(numbers(60).map((i) => i * 10));
  const pages = new Pages(list);
  pages.subscribe(() => {});
  pages.show(0, 25);
  await settle();
  list.rows = [...list.rows, 5, 15, 105].sort((a, b) => a - b);
  pages.refresh();
  await settle();
  expect(rowsOf(pages, 0, 26)).toEqual(list.rows.slice(0, 26));
  pages.show(20, 62);
  await settle();
  expect(rowsOf(pages, 0, 63)).toEqual(list.rows);
});

test('old rows stay while new ones load', async () => {
  const list = fakeList(numbers(30));
  const pages = new Pages(list);
  pages.subscribe(() => {});
  pages.show(0, 20);
  await settle();
  pages.refresh();
  expect(rowsOf(pages, 0, 20)).toEqual(numbers(20));
  await settle();
  expect(rowsOf(pages, 0, 20)).toEqual(numbers(20));
});

test('a list that shrank ends where its rows end', async () => {
  const list = fakeList(numbers(45));
  const pages = new Pages(list);
  pages.subscribe(() => {});
  pages.show(0, 44);
  await settle();
  expect(pages.get().length).toBe(45);
  list.rows = numbers(7);
  pages.show(0, 5);
  pages.refresh();
  await settle();
  expect(pages.get()).toMatchObject({ length: 7, complete: true });
});

test('a refresh of a list that nobody shows waits until somebody does', async () => {
  const list = fakeList(numbers(5));
  const pages = new Pages(list);
  pages.show(0, 4);
  await settle();
  pages.refresh();
  await settle();
  expect(list.loads.length).toBe(1);
  pages.subscribe(() => {});
  await settle();
  expect(list.loads.length).toBe(2);
});

test('an error is shown until retry', async () => {
  const list = fakeList(numbers(5));
  const pages = new Pages(list);
  list.fail = true;
  pages.show(0, 4);
  await settle();
  expect(pages.get().error).toEqual(new Error('away'));
  list.fail = false;
  pages.retry();
  await settle();
  expect(pages.get()).toMatchObject({ length: 5, error: null });
});

test('rows are changed and removed in place', async () => {
  const list = fakeList(numbers(25));
  const pages = new Pages(list);
  pages.show(0, 20);
  await settle();
  pages.change((row) => (row === 3 ? null : row === 4 ? 400 : undefined));
  expect(rowsOf(pages, 2, 5)).toEqual([2, 400, 5]);
  expect(pages.get().length).toBe(24);
});
