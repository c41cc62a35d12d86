import { mergeFields } from '../mail/merge';

/** A merge field: where its value is, and what stands there if the contact has none. Without one, there is no mail. */
export interface MergeField {
  path: string;
  fallback: string | null;
}

const path = String.raw`[a-z_]+(?:\.[A-Za-z0-9_]+)*`;
const quotes = `"“”„`;
const text = String.raw`[${quotes}]([^${quotes}]*)[${quotes}]|'([^']*)'`;
const output = String.raw`\{\{-?\s*(${path})\s*(?:\|\s*default:\s*(?:${text})\s*)?-?\}\}`;

/** A merge field that was just typed, at the end of a text. */
export const typedField = new RegExp(`${output}$`);

/** fieldOf returns the merge field of a match of output. */
export function fieldOf(match: readonly (string | undefined)[]): MergeField {
  return { path: match[1] ?? '', fallback: match[2] ?? match[3] ?? null };
}

/**
 * splitFields returns the text and the merge fields of a template's text, in order. What a field cannot hold stays
 * text: other filters, conditions and loops of the template's language.
 */
export function splitFields(source: string): (string | MergeField)[] {
  const parts: (string | MergeField)[] = [];
  let end = 0;
  for (const match of source.matchAll(new RegExp(output, 'g'))) {
    if (match.index > end) parts.push(source.slice(end, match.index));
    parts.push(fieldOf(match));
    end = match.index + match[0].length;
  }
  if (end < source.length) parts.push(source.slice(end));
  return parts;
}

/** fieldSource returns a merge field as templates have it. */
export function fieldSource({ path: at, fallback }: MergeField): string {
  return fallback === null ? `{{ ${at} }}` : `{{ ${at} | default: "${cleanFallback(fallback)}" }}`;
}

/** cleanFallback returns text without what would end the literal or the field: the language has no escapes. */
export function cleanFallback(fallback: string): string {
  return fallback.replace(new RegExp(`[${quotes}{}\\r\\n]`, 'g'), '');
}

const known = Object.values(mergeFields).flatMap((group) =>
  group.map(({ name, text: source }) => [splitFields(source)[0], name] as const),
);
const names = new Map(
  known.map(([field, name]) => [typeof field === 'object' ? field.path : '', name] as const),
);

/** fieldName returns how a merge field is called. custom has the names of the org's own fields, by key. */
export function fieldName(at: string, custom: ReadonlyMap<string, string> = new Map()): string {
  const key = /^contact\.attributes\.(.+)$/.exec(at)?.[1];
  return names.get(at) ?? (key === undefined ? undefined : custom.get(key)) ?? at;
}
