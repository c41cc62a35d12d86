import { linkOf, sourceOf, type Body, type Mark, type Node } from './document';

// The body as the parts of a mail. Both are templates: merge fields are in them as {{ ... }}.

const order = ['link', 'bold', 'italic'];
const tags: Readonly<Record<string, string>> = { link: 'a', bold: 'strong', italic: 'em' };

/** toHtml returns the HTML part. It has no styles: the service puts the mail's own around it. */
export function toHtml(body: Body): string {
  return body.content.map(blockHtml).join('\n');
}

function blockHtml(node: Node): string {
  const children = node.content ?? [];
  switch (node.type) {
    case 'heading':
      return `<h2>${inlineHtml(children)}</h2>`;
    case 'bulletList':
      return `<ul>\n${children.map(itemHtml).join('\n')}\n</ul>`;
    case 'orderedList':
      return `<ol>\n${children.map(itemHtml).join('\n')}\n</ol>`;
    case 'blockquote':
      return `<blockquote>${children.map(blockHtml).join('\n')}</blockquote>`;
    default:
      return `<p>${inlineHtml(children) || '<br>'}</p>`; // an empty paragraph has no height without
  }
}

function itemHtml({ content = [] }: Node): string {
  const [only] = content;
  return `<li>${content.length === 1 && only ? inlineHtml(only.content ?? []) : content.map(blockHtml).join('')}</li>`;
}

function inlineHtml(nodes: readonly Node[]): string {
  let html = '';
  let open: readonly Mark[] = [];
  const change = (to: readonly Mark[]) => {
    let same = 0;
    while (same < open.length && same < to.length && isSame(open[same], to[same])) same++;
    for (const mark of open.slice(same).reverse()) html += `</${tags[mark.type] ?? ''}>`;
    for (const mark of to.slice(same)) html += openTag(mark);
    open = to;
  };
  for (const node of nodes) {
    const marks = (node.marks ?? []).filter(({ type }) => type in tags);
    change(marks.toSorted((a, b) => order.indexOf(a.type) - order.indexOf(b.type)));
    html += node.type === 'hardBreak' ? '<br>' : escape(sourceOf(node));
  }
  change([]);
  return html;
}

function isSame(a: Mark | undefined, b: Mark | undefined): boolean {
  return a?.type === b?.type && a?.attrs?.['href'] === b?.attrs?.['href'];
}

function openTag(mark: Mark): string {
  const href = linkOf([mark]);
  return href === undefined ? `<${tags[mark.type] ?? ''}>` : `<a href="${escape(href).replaceAll('"', '&quot;')}">`;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** toText returns the text part: blocks with an empty line between them, links with their address behind them. */
export function toText(body: Body): string {
  return blocksText(body.content).trim();
}

function blocksText(nodes: readonly Node[]): string {
  return nodes.map(blockText).join('\n\n');
}

function blockText(node: Node): string {
  const children = node.content ?? [];
  switch (node.type) {
    case 'bulletList':
      return children.map((item) => indent('- ', '  ', blocksText(item.content ?? []))).join('\n');
    case 'orderedList':
      return children
        .map((item, i) => indent(`${i + 1}. `, ' '.repeat(`${i + 1}. `.length), blocksText(item.content ?? [])))
        .join('\n');
    case 'blockquote':
      return indent('> ', '> ', blocksText(children)).replace(/> $/gm, '>');
    default:
      return inlineText(children);
  }
}

function indent(first: string, further: string, text: string): string {
  return text
    .split('\n')
    .map((line, i) => (line === '' && further.trim() === '' ? '' : (i === 0 ? first : further) + line))
    .join('\n');
}

function inlineText(nodes: readonly Node[]): string {
  let text = '';
  let label = '';
  nodes.forEach((node, i) => {
    const source = sourceOf(node);
    text += source;
    const href = linkOf(node.marks);
    if (href === undefined) return;
    label += source;
    if (linkOf(nodes[i + 1]?.marks) === href) return; // the link goes on
    const shown = href.replace(/^(mailto|tel):/i, '');
    if (label.trim() !== href && label.trim() !== shown) text += ` (${shown})`;
    label = '';
  });
  return text;
}
