import type { Target } from '@/lib/operations';

type Query = NonNullable<NonNullable<Target<'/api/v1/crm/contacts'>>['query']>;
type Sort = NonNullable<Query['sort']>;

/** The state of the list of contacts, as its address has it. Lists of stages, tags and segments hold any of them. */
export interface ContactSearch {
  q?: string;
  stage?: string;
  tag?: string;
  segment?: string;
  owner?: string;
  /** The least lead score. */
  score?: number;
  /** Days such as 2026-03-12 on which contacts were created: from the first to the last, both included. */
  from?: string;
  to?: string;
  sort?: Sort;
  archived?: boolean;
  /** The contact that the side panel shows. */
  open?: string;
}

/** The properties that narrow the list, in the order of their chips. */
export const filters = ['stage', 'tag', 'segment', 'owner', 'score', 'created'] as const;
export type FilterName = (typeof filters)[number];

export const sorts: readonly Sort[] = [
  '-created_at',
  'created_at',
  '-lead_score',
  'lead_score',
  'last_name',
  'email',
];

/** readSearch returns the state that an address has; what is malformed is left out. */
export function readSearch(raw: Record<string, unknown>): ContactSearch {
  const out: ContactSearch = {};
  for (const name of ['q', 'stage', 'tag', 'segment', 'owner', 'open'] as const) {
    const value = raw[name];
    if ((typeof value === 'string' || typeof value === 'number') && value !== '') out[name] = String(value);
  }
  for (const name of ['from', 'to'] as const) {
    const value = raw[name];
    if (typeof value === 'string' && isDay(value)) out[name] = value;
  }
  const score = Number(raw['score']);
  if (raw['score'] !== undefined && score > 0 && score <= 100) out.score = score;
  const sort = sorts.find((one) => one === raw['sort']);
  if (sort !== undefined && sort !== '-created_at') out.sort = sort;
  if (raw['archived'] === true) out.archived = true;
  return out;
}

/** toQuery returns the parameters of the list that shows search. */
export function toQuery(search: ContactSearch): Query {
  const { q, stage, tag, segment, owner, score, from, to, sort, archived } = search;
  return {
    ...(q !== undefined && { q }),
    ...(stage !== undefined && { stage }),
    ...(tag !== undefined && { tag }),
    ...(segment !== undefined && { segment }),
    ...(owner !== undefined && { owner_id: owner }),
    ...(score !== undefined && { min_score: score }),
    ...(from !== undefined && { created_after: justBefore(from) }),
    ...(to !== undefined && { created_before: startOf(to, 1) }),
    ...(sort !== undefined && { sort }),
    ...(archived && { archived }),
  };
}

export interface Leaf {
  field: string;
  op: string;
  value: unknown;
}
export type Filter = Leaf | { all: Filter[] } | { any: Filter[] };

/**
 * toFilter returns the filter that selects what the list shows, for changes of all of it. Words have no filter: null
 * for a list that is searched.
 */
export function toFilter(search: ContactSearch): Filter | null {
  if (search.q !== undefined) return null;
  const all: Filter[] = [];
  for (const field of ['stage', 'tag', 'segment'] as const) {
    const value = search[field];
    if (value !== undefined) all.push({ field, op: 'in', value: value.split(',') });
  }
  if (search.owner !== undefined) all.push({ field: 'owner_id', op: 'eq', value: search.owner });
  if (search.score !== undefined) all.push({ field: 'lead_score', op: 'gte', value: search.score });
  if (search.from !== undefined) all.push({ field: 'created_at', op: 'gt', value: justBefore(search.from) });
  if (search.to !== undefined) all.push({ field: 'created_at', op: 'lt', value: startOf(search.to, 1) });
  return { all: all.length > 0 ? all : [{ field: 'email', op: 'exists', value: true }] };
}

const listMax = 200; // values of one in

/** ofEmails returns the filter that selects the contacts with these addresses. */
export function ofEmails(emails: readonly string[]): Filter {
  const parts: Filter[] = [];
  for (let i = 0; i < emails.length; i += listMax) {
    parts.push({ field: 'email', op: 'in', value: emails.slice(i, i + listMax) });
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : { any: parts };
}

/** isNarrowed reports whether search shows less than all contacts. */
export function isNarrowed(search: ContactSearch): boolean {
  const { sort: _sort, open: _open, archived: _archived, ...rest } = search;
  return Object.keys(rest).length > 0;
}

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** Returns the start of the local day that is some days after the day. */
function startOf(day: string, later = 0): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  return new Date(year, month - 1, date + later).toISOString();
}

/** created_after is exclusive, so that the bound of a day is just before its start. */
function justBefore(day: string): string {
  return new Date(Date.parse(startOf(day)) - 1).toISOString();
}

/** cleared returns search without a filter. */
export function cleared(search: ContactSearch, name: FilterName): ContactSearch {
  const next = { ...search };
  if (name === 'created') {
    delete next.from;
    delete next.to;
  } else {
    delete next[name];
  }
  return next;
}
