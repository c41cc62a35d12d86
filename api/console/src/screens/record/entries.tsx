import { formatMoney, formatNumber } from '@/lib/intl';
import { messages } from '@/lib/messages';
import type { IconName } from '@/ui/icon';
import type { Tone } from '@/ui/status';
import type { TimelineEntry as Shown } from '@/ui/timeline';
import { label } from './label';
import type { TimelineEntry } from './types';
import styles from './record.module.css';

const t = messages({
  created: 'Contact created',
  updated: '{fields} changed',
  updatedMany: '{count} fields changed',
  archived: 'Contact archived',
  restored: 'Contact restored',
  merged: 'Merged with duplicates',
  unmerged: 'Merge undone',
  tagged: 'Tagged {tags}',
  untagged: 'Tag {tags} removed',
  retagged: 'Tagged {tags}, {removed} removed',
  scored: 'Score rose from {from} to {to}',
  scoredDown: 'Score fell from {from} to {to}',
  entered: 'Entered the segment {name}',
  left: 'Left the segment {name}',
  dealCreated: 'Deal created: {name}',
  dealUpdated: 'Deal changed: {name}',
  dealMoved: 'Deal moved: {name}',
  dealWon: 'Deal won: {name}',
  dealLost: 'Deal lost: {name}',
  dealReopened: 'Deal reopened: {name}',
  dealArchived: 'Deal archived: {name}',
  dealRestored: 'Deal restored: {name}',
  taskCreated: 'Task added: {title}',
  taskDone: 'Task done: {title}',
  note: 'Note written',
  activity: '{kind} logged',
  by: '{title} by {name}',
  byKey: '{title} by an API key',
  empty: 'empty',
});

const icons: Readonly<Record<string, IconName>> = {
  contact: 'user',
  deal: 'deals',
  task: 'tasks',
  activity: 'note',
  segment: 'segments',
  email: 'mail',
  sequence: 'sequences',
};
const special: Readonly<Record<string, { icon?: IconName; tone?: Tone }>> = {
  'contact.created': { icon: 'plus', tone: 'busy' },
  'contact.updated': { icon: 'edit' },
  'contact.tagged': { icon: 'tag' },
  'contact.score_changed': { icon: 'spark' },
  'contact.archived': { icon: 'archive' },
  'contact.restored': { icon: 'undo' },
  'deal.won': { icon: 'check', tone: 'good' },
  'deal.lost': { icon: 'close', tone: 'bad' },
  'task.completed': { tone: 'good' },
};

/** The filters of a timeline, with the event types that each shows; none means all. */
export const kinds = {
  all: [],
  changes: [
    'contact.created',
    'contact.updated',
    'contact.tagged',
    'contact.archived',
    'contact.restored',
    'contact.merged',
  ],
  score: ['contact.score_changed'],
  deals: ['deal.created', 'deal.updated', 'deal.stage_changed', 'deal.won', 'deal.lost', 'deal.reopened'],
  notes: ['activity.logged'],
  tasks: ['task.created', 'task.completed'],
} as const;
export type Kind = keyof typeof kinds;

/** entryOf returns what a timeline shows of an event. */
export function entryOf(entry: TimelineEntry, nameOf: (id: string) => string): Shown {
  const [noun = ''] = entry.type.split('.');
  const { icon, tone } = special[entry.type] ?? {};
  const body = bodyOf(entry);
  return {
    key: entry.id,
    at: entry.at,
    icon: icon ?? icons[noun] ?? 'events',
    ...(tone !== undefined && { tone }),
    title: by(titleOf(entry), entry, nameOf),
    ...(body !== undefined && { body }),
  };
}

function by(title: string, { actor }: TimelineEntry, nameOf: (id: string) => string): string {
  if (actor.type === 'user' && actor.id !== null) return t('by', { title, name: nameOf(actor.id) });
  return actor.type === 'api_key' ? t('byKey', { title }) : title;
}

/** titleOf returns the sentence of an event, without who caused it. */
export function titleOf({ type, object, changes }: TimelineEntry): string {
  const name = text(object['name']);
  const title = text(object['title']);
  switch (type) {
    case 'contact.created':
      return t('created');
    case 'contact.updated': {
      const fields = Object.keys(changes ?? {}).filter((field) => field !== 'lead_score');
      if (fields.length > 3) return t('updatedMany', { count: fields.length });
      const list = new Intl.ListFormat('en').format(fields.map(fieldName));
      return t('updated', { fields: list.charAt(0).toUpperCase() + list.slice(1) });
    }
    case 'contact.archived':
      return t('archived');
    case 'contact.restored':
      return t('restored');
    case 'contact.merged':
      return t('merged');
    case 'contact.tagged':
      return tagged(list(object['added']), list(object['removed']));
    case 'contact.score_changed': {
      const { from, to } = changes?.['lead_score'] ?? {};
      const values = { from: figure(from), to: figure(to) };
      return Number(to) < Number(from) ? t('scoredDown', values) : t('scored', values);
    }
    case 'segment.entered':
      return t('entered', { name: name || text(object['key']) });
    case 'segment.left':
      return t('left', { name: name || text(object['key']) });
    case 'deal.created':
      return t('dealCreated', { name });
    case 'deal.updated':
      return t('dealUpdated', { name });
    case 'deal.stage_changed':
      return t('dealMoved', { name });
    case 'deal.won':
      return t('dealWon', { name });
    case 'deal.lost':
      return t('dealLost', { name });
    case 'deal.reopened':
      return t('dealReopened', { name });
    case 'deal.archived':
      return t('dealArchived', { name });
    case 'deal.restored':
      return t('dealRestored', { name });
    case 'task.created':
      return t('taskCreated', { title });
    case 'task.completed':
      return t('taskDone', { title });
    case 'activity.logged': {
      const kind = text(object['kind']);
      return kind === 'note' || kind === '' ? t('note') : t('activity', { kind: label(kind) });
    }
    default:
      return label(type.replace('.', ' '));
  }
}

function tagged(added: string, removed: string): string {
  if (removed === '') return t('tagged', { tags: added });
  return added === '' ? t('untagged', { tags: removed }) : t('retagged', { tags: added, removed });
}

function bodyOf({ type, object, changes }: TimelineEntry) {
  if (type === 'activity.logged') return <p className={styles.note}>{text(object['text'])}</p>;
  if (type === 'contact.updated' && changes !== null) {
    return (
      <ul className={styles.changes}>
        {Object.entries(changes).map(([field, { from, to }]) => (
          <li key={field}>
            {label(fieldName(field))}: <s>{shown(field, from)}</s> <b>{shown(field, to)}</b>
          </li>
        ))}
      </ul>
    );
  }
  if (type.startsWith('deal.') && typeof object['amount'] === 'number' && typeof object['currency'] === 'string') {
    const lost = type === 'deal.lost' ? text(object['lost_reason']) : '';
    return (
      <span className="num">
        {formatMoney(object['amount'], object['currency'])}
        {lost !== '' && ` · ${lost}`}
      </span>
    );
  }
  return undefined;
}

const fieldName = (field: string) => field.replace(/^attributes\./, '').replace(/_id$/, '').replace(/_/g, ' ');
const text = (value: unknown) => (typeof value === 'string' ? value : '');
const list = (value: unknown) => (Array.isArray(value) ? value.map(String).join(', ') : '');
const figure = (value: unknown) => (typeof value === 'number' ? formatNumber(value, { maximumFractionDigits: 1 }) : '?');

function shown(field: string, value: unknown): string {
  if (value === null || value === undefined || value === '') return t('empty');
  if (Array.isArray(value)) return value.length === 0 ? t('empty') : value.join(', ');
  if (typeof value === 'number') return figure(value);
  if (field === 'stage') return label(String(value));
  if (typeof value === 'string' && /^[0-9a-f-]{36}$/.test(value)) return `…${value.slice(-6)}`;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
