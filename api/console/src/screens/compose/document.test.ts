import { getSchema } from '@tiptap/core';
import { expect, test } from 'vitest';
import { bodyOf, inline, isEmpty, textToBody, type Body, type Node } from './document';
import { htmlToBody } from './input';
import { toHtml, toText } from './output';
import { schemaOf } from './schema';

const schema = getSchema(schemaOf({ className: 'chip', label: ({ path }) => path }));
const link = (href: string) => ({ type: 'link', attrs: { href } });
const block = (type: string, ...content: Node[]): Node => ({ type, ...(content.length > 0 && { content }) });
const words = (text: string, ...marks: string[]): Node[] => inline(text, marks.map((type) => ({ type })));
const say = (text: string) => block('paragraph', ...words(text));
const item = (...content: Node[]) => block('listItem', ...content);

const mail: Body = bodyOf([
  { type: 'heading', attrs: { level: 2 }, content: words('New looms') },
  block(
    'paragraph',
    ...words('Hi {{ contact.first_name | default: "there" }}, '),
    ...words('3 < 4 & "so"', 'bold'),
    ...words(' and '),
    ...words('slanted', 'bold', 'italic'),
    { type: 'hardBreak' },
    ...words('See '),
    ...inline('our looms', [link('https://looms.example/?a=1&b="2"')]),
    ...words('.'),
  ),
  block('bulletList', item(say('first')), item(say('second'), say('more'))),
  block('orderedList', item(say('one')), item(say('two'))),
  block('blockquote', say('as you said'), say('twice')),
  block('paragraph'),
  block('paragraph', ...inline('{{ contact.attributes.plan }}', [{ type: 'bold' }])),
  block('paragraph', ...inline('Unsubscribe', [link('{{ unsubscribe_url }}')])),
]);

test('the HTML part has the blocks, escaped, with merge fields as templates have them', () => {
  expect(toHtml(mail)).toBe(
    [
      '<h2>New looms</h2>',
      '<p>Hi {{ contact.first_name | default: "there" }}, <strong>3 &lt; 4 &amp; "so"</strong> and ' +
        '<strong><em>slanted</em></strong><br>See ' +
        '<a href="https://looms.example/?a=1&amp;b=&quot;2&quot;">our looms</a>.</p>',
      '<ul>',
      '<li>first</li>',
      '<li><p>second</p><p>more</p></li>',
      '</ul>',
      '<ol>',
      '<li>one</li>',
      '<li>two</li>',
      '</ol>',
      '<blockquote><p>as you said</p>',
      '<p>twice</p></blockquote>',
      '<p><br></p>',
      '<p><strong>{{ contact.attributes.plan }}</strong></p>',
      '<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>',
    ].join('\n'),
  );
});

test('the text part reads as a mail that was typed', () => {
  expect(toText(mail)).toBe(
    [
      'New looms',
      '',
      'Hi {{ contact.first_name | default: "there" }}, 3 < 4 & "so" and slanted',
      'See our looms (https://looms.example/?a=1&b="2").',
      '',
      '- first',
      '- second',
      '',
      '  more',
      '',
      '1. one',
      '2. two',
      '',
      '> as you said',
      '>',
      '> twice',
      '',
      '',
      '',
      '{{ contact.attributes.plan }}',
      '',
      'Unsubscribe ({{ unsubscribe_url }})',
    ].join('\n'),
  );
});

test('a link that shows its address is not written twice', () => {
  const shown = (text: string, href: string) => toText(bodyOf([block('paragraph', ...inline(text, [link(href)]))]));
  expect(shown('https://a.example', 'https://a.example')).toBe('https://a.example');
  expect(shown('ada@a.example', 'mailto:ada@a.example')).toBe('ada@a.example');
  expect(shown('write', 'mailto:ada@a.example')).toBe('write (ada@a.example)');
});

test('a link over several pieces of text is one link', () => {
  const body = bodyOf([
    block('paragraph', ...inline('our ', [link('https://a.example')]), ...inline('looms', [
      { type: 'bold' },
      link('https://a.example'),
    ])),
  ]);
  expect(toHtml(body)).toBe('<p><a href="https://a.example">our <strong>looms</strong></a></p>');
  expect(toText(body)).toBe('our looms (https://a.example)');
});

test('a body comes back from its HTML as it was', () => {
  const back = htmlToBody(toHtml(mail));
  expect(back).not.toBeNull();
  expect(toHtml(back as Body)).toBe(toHtml(mail));
  expect(schema.nodeFromJSON(back).toJSON()).toEqual(schema.nodeFromJSON(mail).toJSON());
});

test('the editor takes every body', () => {
  const typed = textToBody('a\nb\n\nc {{ contact.email }}\n');
  for (const body of [mail, bodyOf([]), textToBody(''), typed, htmlToBody('')]) {
    expect(() => schema.nodeFromJSON(body).check()).not.toThrow();
  }
});

test('HTML that the composer does not write is not read', () => {
  for (const html of [
    '<div>x</div>',
    '<p style="color:red">x</p>',
    '<p>x',
    'x',
    '<p>x</p></p>',
    '<p><a href="javascript:alert(1)">x</a></p>',
    '<p><a>x</a></p>',
    '<p><img src="https://a.example/b.png"></p>',
    '<ul><p>x</p></ul>',
    '<ul></ul>',
    '<p>&copy; x</p>',
    '<p>a < b</p>',
    '<p><strong>x</em></p>',
    '<script>x</script>',
    '<!-- x --><p>x</p>',
    '<p><p>x</p></p>',
  ]) {
    expect(htmlToBody(html), html).toBeNull();
  }
});

test('text becomes paragraphs and lines', () => {
  const body = textToBody('Hi {{ contact.first_name }},\r\n\r\nshall we?\nAda\n');
  expect(toHtml(body)).toBe('<p>Hi {{ contact.first_name }},</p>\n<p>shall we?<br>Ada</p>');
  expect(toText(body)).toBe('Hi {{ contact.first_name }},\n\nshall we?\nAda');
});

test('a body is empty without text and without a merge field', () => {
  expect(isEmpty(bodyOf([]))).toBe(true);
  expect(isEmpty(textToBody(' \n\n '))).toBe(true);
  expect(isEmpty(textToBody('{{ contact.email }}'))).toBe(false);
  expect(isEmpty(bodyOf([block('bulletList', item(say('x')))]))).toBe(false);
});
