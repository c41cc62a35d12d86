import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

// The compiler checks paths against types that are made from the API document. This test holds them to the document
// itself, so that old types do no harm.

const root = join(process.cwd(), 'src');
const document = JSON.parse(readFileSync(join(root, '../../testdata/openapi.golden.json'), 'utf8')) as {
  paths: Record<string, Record<string, unknown>>;
};

const sources = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.tsx?$/.test(name) && !name.endsWith('.test.ts') && !name.endsWith('.d.ts'),
);

const caller = String.raw`\b(?:api(?:\(\))?\s*\.(get|post|put|patch|delete)|useRead|useList|readOptions)`;
const pattern = new RegExp(String.raw`${caller}\(\s*(?:useApi\(\),\s*|api,\s*)?'([^']+)'`, 'g');

function calls(): { method: string; path: string; name: string }[] {
  return sources.flatMap((name) => {
    const text = readFileSync(join(root, name), 'utf8');
    const found = text.matchAll(pattern);
    return [...found].map(([, method = 'get', path = '']) => ({ method, path, name }));
  });
}

test('every operation that the console calls is in the API document', () => {
  const unknown = calls().filter(({ method, path }) => document.paths[path]?.[method] === undefined);
  expect(unknown).toEqual([]);
  expect(calls().length).toBeGreaterThan(10);
});
