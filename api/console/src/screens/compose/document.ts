import { fieldSource, splitFields, type MergeField } from './fields';

/** A node of the editor's document, as the editor has it. */
export interface Node {
  type: string;
  attrs?: Record<string, unknown>;
  marks?: readonly Mark[];
  content?: readonly Node[];
  text?: string;
}

export interface Mark {
  type: string;
  attrs?: Record<string, unknown>;
}

/** The body of a mail: blocks of text. */
export interface Body extends Node {
  type: 'doc';
  content: readonly Node[];
}

/** bodyOf returns a body with the blocks; one has at least one block. */
export function bodyOf(blocks: readonly Node[]): Body {
  return { type: 'doc', content: blocks.length === 0 ? [{ type: 'paragraph' }] : blocks };
}

/** isEmpty reports whether a body has no text and no merge field. */
export function isEmpty(node: Node): boolean {
  if (node.type === 'field') return false;
  if (node.text !== undefined) return node.text.trim() === '';
  return (node.content ?? []).every(isEmpty);
}

/** inline returns text with its merge fields as nodes. */
export function inline(text: string, marks: readonly Mark[] = []): Node[] {
  const marked = marks.length === 0 ? {} : { marks };
  return splitFields(text).map((part) =>
    typeof part === 'string'
      ? { type: 'text', text: part, ...marked }
      : { type: 'field', attrs: { ...part }, ...marked },
  );
}

/** textToBody returns a plain text as a body: an empty line begins a paragraph, another end of line a line. */
export function textToBody(text: string): Body {
  const blocks = text.replace(/\r\n?/g, '\n').trimEnd().split(/\n[ \t]*\n/);
  return bodyOf(
    blocks.map((block) => {
      const lines = block.split('\n').map((line) => inline(line));
      const content = lines.flatMap((line, i) => (i === 0 ? line : [{ type: 'hardBreak' }, ...line]));
      return { type: 'paragraph', ...(content.length > 0 && { content }) };
    }),
  );
}

/** fieldAt returns the merge field of a node. */
export function fieldAt({ attrs }: Node): MergeField {
  const { path, fallback } = attrs ?? {};
  return { path: String(path), fallback: typeof fallback === 'string' ? fallback : null };
}

/** linkOf returns where a mark leads; undefined for other marks. */
export function linkOf(marks: readonly Mark[] | undefined): string | undefined {
  const href = marks?.find((one) => one.type === 'link')?.attrs?.['href'];
  return typeof href === 'string' ? href : undefined;
}

/** sourceOf returns the text of an inline node as templates have it. */
export function sourceOf(node: Node): string {
  if (node.type === 'field') return fieldSource(fieldAt(node));
  return node.type === 'hardBreak' ? '\n' : (node.text ?? '');
}
