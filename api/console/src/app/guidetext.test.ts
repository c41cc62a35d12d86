// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { guideOf, readGuide } from './guidetext';

function page(body: string): Document {
  return new DOMParser().parseFromString(`<html><head><title>T</title></head><body>${body}</body></html>`, 'text/html');
}

test('the known elements of a guide become blocks of text', () => {
  const guide = readGuide(
    page(`<nav>Above</nav><h1>Import</h1><p>Use <code>POST</code> or <a href="/docs/guides/email">mail</a>.</p>
      <h2 id="try">Try</h2><pre><code>curl -s</code></pre><ul><li>One</li><li><strong>Two</strong></li></ul>
      <table><thead><tr><th>A</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>`),
  );
  expect(guide.title).toBe('Import');
  expect(guide.blocks).toEqual([
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
    { kind: 'heading', text: 'Try', id: 'try' },
    { kind: 'code', text: 'curl -s' },
    { kind: 'list', ordered: false, items: [[{ kind: 'text', text: 'One' }], [{ kind: 'strong', text: 'Two' }]] },
    { kind: 'table', head: [[{ kind: 'text', text: 'A' }]], rows: [[[{ kind: 'text', text: '1' }]]] },
  ]);
});

test('scripts, pictures and foreign links are left out', () => {
  const guide = readGuide(
    page('<h1>X</h1><script>alert(1)</script><p><a href="https://evil.example">go</a><img src="x"></p><iframe></iframe>'),
  );
  expect(guide.blocks).toEqual([{ kind: 'text', parts: [{ kind: 'text', text: 'go' }] }]);
});

test('a link to another guide is followed beside the page', () => {
  expect(guideOf('/docs/guides/segments#write-a-filter')).toBe('segments');
  expect(guideOf('/docs')).toBeNull();
  expect(guideOf('/docs/guides/')).toBeNull();
});
