import type { Result } from '@/lib/operations';
import { randomId } from '@/lib/random';

export type Template = Result<'get', '/api/v1/templates/{id}'>;
export type Block = NonNullable<Template['blocks']>[number];

/** The limits of the API. */
export const limits = { blocks: 200, columns: 4, inColumn: 50 };

/** A heading is a text block with nothing but a heading in it; html is a text block in HTML. */
export type Kind = 'heading' | 'text' | 'html' | 'button' | 'image' | 'divider' | 'columns' | 'footer';

/** The kinds that can be added; columns do not stand in columns. */
export const kinds: readonly Kind[] = ['heading', 'text', 'button', 'image', 'divider', 'columns', 'footer', 'html'];

/** Item is a block as it is edited. Its id does not change while it is moved. */
export interface Item {
  id: string;
  /** That of the block as it was read or added, so that its form stays while it is typed in. */
  kind: Kind;
  block: Block;
  /** The blocks of each column; of a block of another kind there are none. */
  columns: readonly (readonly Item[])[];
}

/** The footer that a new one begins with: it has the link without which no mail to many is sent. */
const firstFooter = 'You get this mail from {{ org.name }}. <a href="{{ unsubscribe_url }}">Unsubscribe</a>';

function kindOf(block: Block): Kind {
  if (block.type !== 'text' || !block.html) return block.type;
  return headingOf(block) === null ? 'html' : 'heading';
}

/** newItem returns a block of a kind with what every mail has to have in it. */
export function newItem(kind: Kind): Item {
  const item = { id: randomId(), kind, columns: [] };
  switch (kind) {
    case 'heading':
      return { ...item, block: withHeading({ type: 'text' }, 1, '') };
    case 'html':
      return { ...item, block: { type: 'text', html: '<p></p>' } };
    case 'columns':
      return { ...item, block: { type: 'columns' }, columns: [[newItem('text')], [newItem('text')]] };
    case 'footer':
      return { ...item, block: { type: 'footer', html: firstFooter } };
    default:
      return { ...item, block: { type: kind } };
  }
}

/** fromText returns the blocks that a mail in plain text becomes: its text, and a footer for its line to unsubscribe. */
export function fromText(text: string): Item[] {
  const lines = text.trimEnd().split('\n');
  const last = lines.at(-1) ?? '';
  const body = (last.includes('unsubscribe_url') ? lines.slice(0, -1) : lines).join('\n').trim();
  const written: Item = { ...newItem('text'), block: { type: 'text', text: body } };
  return [...(body === '' ? [] : [written]), newItem('footer')];
}

export function readBlocks(blocks: readonly Block[]): Item[] {
  return blocks.map((block) => ({
    id: randomId(),
    kind: kindOf(block),
    block,
    columns: (block.columns ?? []).map((column) => readBlocks(column.blocks)),
  }));
}

/** writeBlocks returns the blocks as a request has them: what is empty is left out. */
export function writeBlocks(items: readonly Item[]): Block[] {
  return items.map(({ block, columns }) => {
    const given = withoutEmpty(block);
    if (block.type !== 'columns') return given;
    return {
      ...given,
      columns: columns.map((inner, i) => {
        const width = block.columns?.[i]?.width;
        return { ...(width !== undefined && { width }), blocks: writeBlocks(inner) };
      }),
    };
  });
}

function withoutEmpty({ type, html, text, url, src, alt, width, align, color, background }: Block): Block {
  return {
    type,
    ...(html && { html }),
    ...(text && { text }),
    ...(url && { url }),
    ...(src && { src }),
    ...(alt && { alt }),
    ...(width && { width }),
    ...(align && { align }),
    ...(color && { color }),
    ...(background && { background }),
  };
}

/** complete returns the blocks that have all that they need, which a preview can show. */
export function complete(items: readonly Item[]): Item[] {
  return items
    .filter((item) => missingOf(item) === null)
    .map((item) => ({ ...item, columns: item.columns.map(complete) }));
}

export type Missing = 'text' | 'label' | 'src';

/** missingOf returns what a block lacks. */
export function missingOf({ block }: Pick<Item, 'block'>): Missing | null {
  const has = (value: string | undefined) => value !== undefined && value.trim() !== '';
  switch (block.type) {
    case 'text':
    case 'footer':
      return has(block.text) || (has(block.html) && headingOf(block)?.text !== '') ? null : 'text';
    case 'button':
      return has(block.text) && has(block.url) ? null : 'label';
    case 'image':
      return has(block.src) ? null : 'src';
    default:
      return null;
  }
}

export type Level = 1 | 2 | 3;
const headingForm = /^<h([123])>([\s\S]*)<\/h\1>$/;
const braces = /(\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\})/;

/** headingOf returns the heading that a text block consists of, or null for another one. */
export function headingOf({ html }: Pick<Block, 'html'>): { level: Level; text: string } | null {
  const match = headingForm.exec(html ?? '');
  if (match === null) return null;
  const parts = (match[2] ?? '').split(braces);
  if (parts.some((part, i) => i % 2 === 0 && part.includes('<'))) return null;
  const text = parts.map((part, i) => (i % 2 === 0 ? unescape(part) : part)).join('');
  return { level: Number(match[1]) as Level, text };
}

/** withHeading returns the block with a heading in it, in which merge fields stay as they are. */
export function withHeading(block: Block, level: Level, text: string): Block {
  const { text: _, ...rest } = block;
  return { ...rest, html: `<h${level}>${escapeText(text.replaceAll('\n', ' '))}</h${level}>` };
}

/** textToHTML returns plain text as the HTML that the service makes of it, so that it can be edited further. */
export function textToHTML(text: string): string {
  const paragraphs = text.trim().split(/\n{2,}/);
  return paragraphs.map((one) => `<p>${escapeText(one).replaceAll('\n', '<br>')}</p>`).join('\n');
}

function escapeText(text: string): string {
  const plain = (part: string) => part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return text
    .split(braces)
    .map((part, i) => (i % 2 === 0 ? plain(part) : part))
    .join('');
}

function unescape(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** summaryOf returns the first words of a block, as its card shows them. */
export function summaryOf(item: Item): string {
  const { block } = item;
  const heading = headingOf(block);
  if (heading !== null) return heading.text;
  if (block.type === 'image') return block.alt || block.src || '';
  const text = block.text || (block.html ?? '').replace(/<[^>]*>/g, ' ');
  return text.replace(/\s+/g, ' ').trim().slice(0, 120);
}

/** changeItem returns the blocks with the one of that id replaced; removed if by returns null. */
export function changeItem(items: readonly Item[], id: string, by: (item: Item) => Item | null): Item[] {
  return items.flatMap((item) => {
    if (item.id === id) return by(item) ?? [];
    if (item.columns.length === 0) return item;
    return { ...item, columns: item.columns.map((column) => changeItem(column, id, by)) };
  });
}

/** Place is where a block is: in the mail itself, or in a column of a block of columns. */
export interface Place {
  /** The id of the block of columns, and the number of the column. */
  within?: { id: string; column: number };
  at: number;
  /** How many blocks there are in the same place. */
  of: number;
}

export function placeOf(items: readonly Item[], id: string): Place | undefined {
  const at = items.findIndex((item) => item.id === id);
  if (at >= 0) return { at, of: items.length };
  for (const item of items) {
    for (const [column, inner] of item.columns.entries()) {
      const place = inner.findIndex((one) => one.id === id);
      if (place >= 0) return { within: { id: item.id, column }, at: place, of: inner.length };
    }
  }
  return undefined;
}

export function insertItem(items: readonly Item[], item: Item, { within, at }: Omit<Place, 'of'>): Item[] {
  if (within === undefined) return [...items.slice(0, at), item, ...items.slice(at)];
  return changeItem(items, within.id, (outer) => ({
    ...outer,
    columns: outer.columns.map((inner, i) => (i === within.column ? insertItem(inner, item, { at }) : inner)),
  }));
}

/** moveBy moves a block among those around it, and returns the same list if it cannot go there. */
export function moveBy(items: readonly Item[], id: string, by: 1 | -1): readonly Item[] {
  const place = placeOf(items, id);
  if (place === undefined) return items;
  return moveTo(items, id, { ...place, at: place.at + by });
}

/** moveTo moves a block to a place, also into and out of a column, and returns the same list if it cannot go there. */
export function moveTo(items: readonly Item[], id: string, to: Place): readonly Item[] {
  const from = placeOf(items, id);
  const item = find(items, id);
  if (from === undefined || item === undefined) return items;
  const same = from.within?.id === to.within?.id && from.within?.column === to.within?.column;
  const at = Math.min(to.at, to.of - (same ? 1 : 0));
  if (at < 0 || (same && from.at === at)) return items;
  if (to.within !== undefined && item.columns.length > 0) return items;
  return insertItem(changeItem(items, id, () => null), item, { ...to, at });
}

function find(items: readonly Item[], id: string): Item | undefined {
  for (const item of items) {
    if (item.id === id) return item;
    for (const column of item.columns) {
      const found = find(column, id);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

/** withColumns returns a block with that many columns; what was in a column that goes is put into the last one. */
export function withColumns(item: Item, count: number): Item {
  const kept = item.columns.slice(0, count);
  const gone = item.columns.slice(count).flat();
  const more = Array.from({ length: Math.max(0, count - kept.length) }, () => [newItem('text')]);
  const columns = [...kept, ...more].map((column, i) => (i === count - 1 ? [...column, ...gone] : column));
  const { columns: _, ...block } = item.block; // the widths are those of another number of columns
  return { ...item, block, columns };
}

/** withWidth returns a block of columns with the width of one of them in percent; 0: an equal share. */
export function withWidth(item: Item, column: number, width: number): Item {
  const columns = item.columns.map((_, i) => {
    const own = i === column ? width : (item.block.columns?.[i]?.width ?? 0);
    return { blocks: [], ...(own > 0 && { width: own }) };
  });
  return { ...item, block: { ...item.block, columns } };
}

export function countOf(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + 1 + item.columns.reduce((inner, column) => inner + countOf(column), 0), 0);
}
