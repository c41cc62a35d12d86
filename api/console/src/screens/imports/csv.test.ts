import { expect, test } from 'vitest';
import { parseHead, readHead } from './csv';

test('quotes, line ends within them and empty lines are read', () => {
  const head = parseHead('\ufeffemail, note\r\n"a@x.example","He said ""hi"",\nthen left"\r\n\r\nb@x.example,\r\n', true);
  expect(head).toEqual({
    columns: ['email', 'note'],
    rows: [
      ['a@x.example', 'He said "hi",\nthen left'],
      ['b@x.example', ''],
    ],
  });
});

test('the separator is a comma, semicolon or tab', () => {
  expect(parseHead('a;b;c,d\n1;2;3', true)?.columns).toEqual(['a', 'b', 'c,d']);
  expect(parseHead('a\tb\n1\t2', true)?.rows).toEqual([['1', '2']]);
  expect(parseHead('email\nx@y.example', true)?.columns).toEqual(['email']);
});

test('at most five rows are shown, and none that is cut', () => {
  expect(parseHead(`a,b\n${'1,2\n'.repeat(9)}`, true)?.rows).toHaveLength(5);
  expect(parseHead('a,b\n1,2\n3,4', false)?.rows).toEqual([['1', '2']]);
});

test('a file without a header is none', () => {
  expect(parseHead('', true)).toBeNull();
  expect(parseHead('\n ,\n', true)).toBeNull();
  expect(parseHead('PK\0\0', true)).toBeNull();
  expect(parseHead('BEGIN:VCARD\nVERSION:3.0\n', true)).toBeNull();
});

test('a letter that the beginning of a long file cuts is left out', async () => {
  const file = new Blob([`name,city\nAda,"${'é'.repeat(40_000)}"\n`]);
  expect(await readHead(file)).toEqual({ columns: ['name', 'city'], rows: [] });
});
