import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { guideOf, readGuide, readInline } from './guidetext';

test('a guide becomes blocks of text', () => {
  const source = [
    '# Import',
    '',
    'Use `POST` or',
    '[mail](/docs/guides/email).',
    '## Try an import',
    '```sh',
    '# a comment',
    'curl -s',
    '```',
    '- One',
    '  goes on',
    '- **Two**',
    '',
    '| A | B |',
    '|---|---|',
    '| 1 | `2` |',
  ].join('\n');
  expect(readGuide(source)).toEqual({
    title: 'Import',
    blocks: [
      {
        kind: 'text',
        parts: [
          { kind: 'text', text: 'Use ' },
          { kind: 'code', text: 'POST' },
          { kind: 'text', text: ' or ' },
          { kind: 'link', text: 'mail', href: '/docs/guides/email' },
          { kind: 'text', text: '.' },
        ],
      },
      { kind: 'heading', text: 'Try an import', id: 'try-an-import' },
      { kind: 'code', text: '# a comment\ncurl -s' },
      {
        kind: 'list',
        ordered: false,
        items: [[{ kind: 'text', text: 'One goes on' }], [{ kind: 'strong', text: 'Two' }]],
      },
      {
        kind: 'table',
        head: [[{ kind: 'text', text: 'A' }], [{ kind: 'text', text: 'B' }]],
        rows: [[[{ kind: 'text', text: '1' }], [{ kind: 'code', text: '2' }]]],
      },
    ],
  });
});

test('markup is text, and a foreign link is its words', () => {
  expect(readInline('<b>x</b> [go](https://evil.example) [run](javascript:alert(1))')).toEqual([
    { kind: 'text', text: '<b>x</b> ' },
    { kind: 'text', text: 'go' },
    { kind: 'text', text: ' ' },
    { kind: 'text', text: 'run' },
    { kind: 'text', text: ')' },
  ]);
});

test('every guide is read, and no mark of Markdown is left in its text', () => {
  const guides = '../pages/docs/guides';
  for (const name of readdirSync(guides)) {
    const { title, blocks } = readGuide(readFileSync(`${guides}/${name}`, 'utf8'));
    expect(title).not.toBe('');
    for (const block of blocks) {
      if (block.kind !== 'text') continue;
      const text = block.parts.filter(({ kind }) => kind === 'text').map((part) => part.text);
      expect(text.join('')).not.toMatch(/`|\*\*|\]\(|^[#|]/);
    }
  }
});

test('a link to another guide is followed beside the page', () => {
  expect(guideOf('/docs/guides/segments#write-a-filter')).toBe('segments');
  expect(guideOf('/docs/guides/#before-you-begin')).toBe('index');
  expect(guideOf('/docs')).toBeNull();
});
