import type { Row } from '@/lib/read';

export type Event = Row<'/api/v1/events'>;

const names = ['name', 'title', 'email', 'subject', 'url', 'key', 'display_name', 'domain', 'segment'] as const;

/** subjectOf returns what an event is about in a few words: a person's name, else the first field that names a thing. */
export function subjectOf(object: Readonly<Record<string, unknown>>): string {
  const person = [object['first_name'], object['last_name']].filter((part) => typeof part === 'string' && part !== '');
  if (person.length > 0) return person.join(' ');
  for (const name of names) {
    const value = object[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  const id = object['id'];
  return typeof id === 'string' ? `…${id.slice(-8)}` : '';
}

export interface Change {
  field: string;
  before: string;
  after: string;
}

/** changesOf returns the fields that an event changed, if it has the values before. */
export function changesOf(data: { object: Readonly<Record<string, unknown>>; previous: unknown }): Change[] {
  const { object, previous } = data;
  if (typeof previous !== 'object' || previous === null) return [];
  return Object.entries(previous).map(([field, before]) => ({
    field,
    before: textOf(before),
    after: textOf(object[field]),
  }));
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === null || value === undefined ? '–' : JSON.stringify(value);
}
