import { expect, test } from 'vitest';
import {
  type Block,
  complete,
  countOf,
  fromText,
  headingOf,
  insertItem,
  type Item,
  moveBy,
  moveTo,
  newItem,
  placeOf,
  readBlocks,
  textToHTML,
  withColumns,
  withWidth,
  withHeading,
  writeBlocks,
} from './blocks';

const stored: Block[] = [
  { type: 'text', html: '<h2>Tea &amp; {{ contact.first_name | default: "<you>" }}</h2>', align: 'center' },
  { type: 'text', text: 'Good day' },
  {
    type: 'columns',
    columns: [
      { width: 30, blocks: [{ type: 'image', src: 'https://a.example/a.png', alt: 'A' }] },
      { blocks: [{ type: 'text', html: '<p>b</p>' }, { type: 'divider', color: '#dddddd' }] },
    ],
  },
];

const idsOf = (items: readonly Item[]): unknown =>
  items.map(({ id, columns }) => (columns.length === 0 ? id : [id, ...columns.map(idsOf)]));

/** Blocks a, b, and c with the columns [d] and [e, f]. */
function letters(): Item[] {
  const item = (id: string, columns: Item[][] = []): Item => ({
    id,
    columns,
    kind: columns.length > 0 ? 'columns' : 'divider',
    block: { type: columns.length > 0 ? 'columns' : 'divider' },
  });
  return [item('a'), item('b'), item('c', [[item('d')], [item('e'), item('f')]])];
}

test('blocks are written as they were read', () => {
  const items = readBlocks(stored);
  expect(writeBlocks(items)).toEqual(stored);
  expect(items.map(({ kind }) => kind)).toEqual(['heading', 'text', 'columns']);
  expect(countOf(items)).toBe(6);
});

test('a heading keeps its merge fields and escapes the rest', () => {
  const text = 'Tea & {{ contact.first_name | default: "<you>" }} < 3';
  const block = withHeading({ type: 'text', text: 'old', color: '#111111' }, 2, text);
  expect(block).toEqual({
    type: 'text',
    color: '#111111',
    html: '<h2>Tea &amp; {{ contact.first_name | default: "<you>" }} &lt; 3</h2>',
  });
  expect(headingOf(block)).toEqual({ level: 2, text });
  expect(headingOf({ html: '<h1>a <b>c</b></h1>' })).toBeNull();
  expect(headingOf({ html: '<h1>a</h1><p>b</p>' })).toBeNull();
});

test('text becomes paragraphs as the service makes them', () => {
  expect(textToHTML('a < b\nc\n\n{{ "x" | default: "<" }}')).toBe('<p>a &lt; b<br>c</p>\n<p>{{ "x" | default: "<" }}</p>');
});

test('a mail in plain text becomes its text and a footer', () => {
  const items = fromText('Hi,\n\nhow are you?\n\nNo more mails: {{ unsubscribe_url }}\n');
  expect(items.map(({ block }) => [block.type, block.text])).toEqual([
    ['text', 'Hi,\n\nhow are you?'],
    ['footer', undefined],
  ]);
  expect(items[1]?.block.html).toContain('{{ unsubscribe_url }}');
  expect(fromText('').map(({ kind }) => kind)).toEqual(['footer']);
});

test('what a preview cannot show is left out', () => {
  const columns = newItem('columns');
  const items = [newItem('heading'), newItem('button'), newItem('image'), newItem('divider'), columns];
  const shown = complete(items);
  expect(shown.map(({ kind }) => kind)).toEqual(['divider', 'columns']);
  expect(shown[1]?.columns).toEqual([[], []]);
});

test.each([
  ['a', 1, ['b', 'a', ['c', ['d'], ['e', 'f']]]],
  ['a', -1, null],
  ['c', 1, null],
  ['f', -1, ['a', 'b', ['c', ['d'], ['f', 'e']]]],
  ['f', 1, null],
] as const)('%s moves by %i within its place', (id, by, want) => {
  const items = letters();
  const moved = moveBy(items, id, by);
  if (want === null) expect(moved).toBe(items);
  else expect(idsOf(moved)).toEqual(want);
});

test('a block is moved into and out of columns, but columns are not moved into columns', () => {
  const items = letters();
  const to = (id: string) => placeOf(items, id) ?? { at: -1, of: 0 };
  expect(idsOf(moveTo(items, 'a', to('e')))).toEqual(['b', ['c', ['d'], ['a', 'e', 'f']]]);
  expect(idsOf(moveTo(items, 'd', to('a')))).toEqual(['d', 'a', 'b', ['c', [], ['e', 'f']]]);
  expect(idsOf(moveTo(items, 'e', to('d')))).toEqual(['a', 'b', ['c', ['e', 'd'], ['f']]]);
  expect(moveTo(items, 'c', to('e'))).toBe(items);
});

test('a block is put into an empty column', () => {
  const items = insertItem(letters(), { ...newItem('divider'), id: 'x' }, { within: { id: 'c', column: 1 }, at: 2 });
  expect(idsOf(items)).toEqual(['a', 'b', ['c', ['d'], ['e', 'f', 'x']]]);
});

test('a column has a width of its own or an equal share', () => {
  const columns = withWidth(withWidth(newItem('columns'), 0, 30), 1, 70);
  expect(writeBlocks([columns])[0]?.columns?.map(({ width }) => width)).toEqual([30, 70]);
  expect(writeBlocks([withWidth(columns, 0, 0)])[0]?.columns?.map(({ width }) => width)).toEqual([undefined, 70]);
});

test('nothing is lost when a column goes', () => {
  const [, , columns] = letters();
  if (columns === undefined) throw new Error('no columns');
  const four = withColumns(columns, 4);
  expect(four.columns.map((column) => column.length)).toEqual([1, 2, 1, 1]);
  expect(idsOf([withColumns({ ...four, columns: [[], ...columns.columns] }, 2)])).toEqual([['c', [], ['d', 'e', 'f']]]);
});
