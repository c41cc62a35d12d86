/** Inline is a piece of text of a guide. */
export interface Inline {
  kind: 'text' | 'code' | 'strong' | 'link';
  text: string;
  href?: string;
}

/** Block is an element of a guide that is known; others are left out. */
export type Block =
  | { kind: 'heading'; text: string; id: string }
  | { kind: 'text'; parts: readonly Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'list'; ordered: boolean; items: readonly (readonly Inline[])[] }
  | { kind: 'table'; head: readonly (readonly Inline[])[]; rows: readonly (readonly (readonly Inline[])[])[] };

/** readGuide returns the text of a guide's page: its title and what is below it. */
export function readGuide(page: Document): { title: string; blocks: Block[] } {
  const heading = page.querySelector('h1');
  const title = heading?.textContent?.trim() ?? page.title;
  const blocks: Block[] = [];
  for (let at = heading?.nextElementSibling ?? null; at !== null; at = at.nextElementSibling) {
    const block = readBlock(at);
    if (block !== null) blocks.push(block);
  }
  return { title, blocks };
}

function readBlock(element: Element): Block | null {
  switch (element.localName) {
    case 'h2':
    case 'h3':
      return { kind: 'heading', text: textOf(element), id: element.id };
    case 'p':
      return { kind: 'text', parts: readInline(element) };
    case 'pre':
      return { kind: 'code', text: element.textContent ?? '' };
    case 'ul':
    case 'ol':
      return {
        kind: 'list',
        ordered: element.localName === 'ol',
        items: [...element.children].filter((child) => child.localName === 'li').map(readInline),
      };
    case 'table':
      return {
        kind: 'table',
        head: [...element.querySelectorAll('thead th')].map(readInline),
        rows: [...element.querySelectorAll('tbody tr')].map((row) => [...row.children].map(readInline)),
      };
    default:
      return null;
  }
}

function readInline(element: Element): Inline[] {
  const parts: Inline[] = [];
  for (const node of element.childNodes) {
    const text = node.textContent ?? '';
    if (text === '') continue;
    const name = node instanceof Node && 'localName' in node ? String(node.localName) : '';
    if (name === 'code') parts.push({ kind: 'code', text });
    else if (name === 'strong' || name === 'em') parts.push({ kind: 'strong', text });
    else if (name === 'a' && 'getAttribute' in node) {
      const href = (node as Element).getAttribute('href') ?? '';
      parts.push(isOwn(href) ? { kind: 'link', text, href } : { kind: 'text', text });
    } else if (name === 'p') parts.push(...readInline(node as Element));
    else parts.push({ kind: 'text', text: text.replaceAll('\n', ' ') });
  }
  return parts;
}

function textOf(element: Element): string {
  return element.textContent?.trim() ?? '';
}

/** Links of a guide lead to the service's own documents; others are shown as text. */
function isOwn(href: string): boolean {
  return href.startsWith('/docs') || href.startsWith('#');
}

/** guideOf returns the name of the guide that href leads to, or null for another page. */
export function guideOf(href: string): string | null {
  return /^\/docs\/guides\/([\w-]+)(?:#.*)?$/.exec(href)?.[1] ?? null;
}
