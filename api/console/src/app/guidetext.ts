/** Inline is a piece of text of a guide. */
export interface Inline {
  kind: 'text' | 'code' | 'strong' | 'link';
  text: string;
  href?: string;
}

/** Block is a part of a guide. */
export type Block =
  | { kind: 'heading'; text: string; id: string }
  | { kind: 'text'; parts: readonly Inline[] }
  | { kind: 'code'; text: string }
  | { kind: 'list'; ordered: boolean; items: readonly (readonly Inline[])[] }
  | { kind: 'table'; head: readonly (readonly Inline[])[]; rows: readonly (readonly (readonly Inline[])[])[] };

const item = /^(?:- |\d+\. )/;
const starts = /^(?:#|```|\||- |\d+\. )/;

/** readGuide returns the title of a guide and its blocks. It knows the Markdown that guides are written in. */
export function readGuide(source: string): { title: string; blocks: Block[] } {
  const lines = source.split('\n');
  const blocks: Block[] = [];
  let title = '';
  let at = 0;
  const take = (isPart: (line: string) => boolean): string[] => {
    const from = at;
    while (at < lines.length && isPart(lines[at] ?? '')) at++;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const heading = /^(#+) (.*)$/.exec(line);
    if (line.trim() === '') at++;
    else if (heading !== null) {
      at++;
      const text = heading[2] ?? '';
      if (heading[1] === '#') title = text;
      else blocks.push({ kind: 'heading', text, id: idOf(text) });
    } else if (line.startsWith('```')) {
      at++;
      const code = take((one) => !one.startsWith('```'));
      at++;
      blocks.push({ kind: 'code', text: code.join('\n') });
    } else if (line.startsWith('|')) {
      const [head = '', , ...rows] = take((one) => one.startsWith('|'));
      blocks.push({ kind: 'table', head: cellsOf(head), rows: rows.map(cellsOf) });
    } else if (item.test(line)) {
      const list = take((one) => item.test(one) || one.startsWith('  '));
      blocks.push({ kind: 'list', ordered: /^\d/.test(line), items: itemsOf(list).map(readInline) });
    } else {
      at++;
      const rest = take((one) => one.trim() !== '' && !starts.test(one));
      blocks.push({ kind: 'text', parts: readInline([line, ...rest].join(' ')) });
    }
  }
  return { title, blocks };
}

/** The lines of a list, those of one item in one. */
function itemsOf(lines: readonly string[]): string[] {
  const items: string[] = [];
  for (const line of lines) {
    if (item.test(line)) items.push(line.replace(item, ''));
    else items.push(`${items.pop() ?? ''} ${line.trim()}`.trim());
  }
  return items;
}

function cellsOf(row: string): Inline[][] {
  return row
    .replace(/^\|/, '')
    .replace(/\|\s*$/, '')
    .split('|')
    .map((cell) => readInline(cell.trim()));
}

/** readInline returns the pieces of a text: code, strong words and links to the service's own pages. */
export function readInline(text: string): Inline[] {
  const parts: Inline[] = [];
  const pattern = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g;
  let end = 0;
  const plain = (to: number) => {
    if (to > end) parts.push({ kind: 'text', text: text.slice(end, to) });
  };
  for (const match of text.matchAll(pattern)) {
    const [whole, code, strong, label = '', href = ''] = match;
    plain(match.index);
    if (code !== undefined) parts.push({ kind: 'code', text: code });
    else if (strong !== undefined) parts.push({ kind: 'strong', text: strong });
    else if (isOwn(href)) parts.push({ kind: 'link', text: label, href });
    else parts.push({ kind: 'text', text: label });
    end = match.index + whole.length;
  }
  plain(text.length);
  return parts;
}

/** Links of a guide lead to the service's own documents; others are shown as text. */
function isOwn(href: string): boolean {
  return href.startsWith('/docs') || href.startsWith('#');
}

/** idOf returns the id of a heading as links name it: "Try an import" is try-an-import. */
function idOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(/\s+/g, '-');
}

/** guideOf returns the name of the guide that href leads to, or null for another page. */
export function guideOf(href: string): string | null {
  const match = /^\/docs\/guides\/([\w-]*)(?:#.*)?$/.exec(href);
  return match === null ? null : match[1] || 'index';
}
