import { messages } from '@/lib/messages';
import { label } from '../record/label';
import { type Condition, type FieldType, type FilterField, type Group, type Part, takesList } from './filter';

const t = messages({
  email: 'Email',
  first_name: 'First name',
  last_name: 'Last name',
  company_id: 'Company',
  owner_id: 'Owner',
  stage: 'Stage',
  tag: 'Tag',
  segment: 'Segment',
  lead_score: 'Lead score',
  consent_basis: 'Basis of consent',
  consent_confirmed_at: 'Consent confirmed',
  created_at: 'Created',
  updated_at: 'Changed',
  phone: 'Phone',
  job_title: 'Job title',
  source: 'Source',
  country: 'Country',
  time_zone: 'Time zone',
  eq: 'is',
  ne: 'is not',
  in: 'is any of',
  not_in: 'is none of',
  gt: 'is above',
  gte: 'is at least',
  lt: 'is below',
  lte: 'is at most',
  after: 'is after',
  from: 'is from',
  before: 'is before',
  until: 'is until',
  starts_with: 'begins with',
  contains: 'contains',
  exists: 'is known',
  missing: 'is unknown',
  and: ' and ',
  or: ' or ',
  not: 'not {text}',
  none: 'none of ({text})',
  notAll: 'not all of ({text})',
});

const fieldWords: Readonly<Record<string, string>> = {
  email: t('email'),
  first_name: t('first_name'),
  last_name: t('last_name'),
  company_id: t('company_id'),
  owner_id: t('owner_id'),
  stage: t('stage'),
  tag: t('tag'),
  segment: t('segment'),
  lead_score: t('lead_score'),
  consent_basis: t('consent_basis'),
  consent_confirmed_at: t('consent_confirmed_at'),
  created_at: t('created_at'),
  updated_at: t('updated_at'),
  phone: t('phone'),
  job_title: t('job_title'),
  source: t('source'),
  country: t('country'),
  time_zone: t('time_zone'),
};

/** fieldWord returns the name of a field; custom has the names of custom fields by key. */
export function fieldWord(field: string, custom: ReadonlyMap<string, string>): string {
  const key = field.replace(/^attributes\./, '');
  return key === field ? (fieldWords[field] ?? label(field)) : (custom.get(key) ?? label(key));
}

/** Operator is a choice of the builder: exists with its two values is two of them. */
export interface Operator {
  value: string;
  label: string;
}

const plainWords: Readonly<Record<string, string>> = {
  eq: t('eq'),
  ne: t('ne'),
  in: t('in'),
  not_in: t('not_in'),
  gt: t('gt'),
  gte: t('gte'),
  lt: t('lt'),
  lte: t('lte'),
  starts_with: t('starts_with'),
  contains: t('contains'),
};
const timeWords: Readonly<Record<string, string>> = {
  gt: t('after'),
  gte: t('from'),
  lt: t('before'),
  lte: t('until'),
};

/** operatorsOf returns the operators of a field in words. */
export function operatorsOf({ type, operators }: Pick<FilterField, 'type' | 'operators'>): Operator[] {
  return operators.flatMap((op) =>
    op === 'exists'
      ? [
          { value: 'exists', label: t('exists') },
          { value: 'missing', label: t('missing') },
        ]
      : [{ value: op, label: operatorWord(op, type) }],
  );
}

function operatorWord(op: string, type: FieldType | undefined): string {
  return ((type === 'date' || type === 'time') && timeWords[op]) || plainWords[op] || op;
}

/** operatorOf returns the builder's choice for a condition. */
export function operatorOf({ op, values }: Pick<Condition, 'op' | 'values'>): string {
  return op === 'exists' && values[0] === 'false' ? 'missing' : op;
}

/** Names finds the words of a filter's parts. */
export interface Names {
  field: (field: string) => string;
  type: (field: string) => FieldType | undefined;
  value: (field: string, value: string) => string;
}

/** sentence returns a filter in words: "Stage is any of SQL, Customer and Lead score is at least 60". */
export function sentence(group: Group, names: Names): string {
  return ofPart(group, names, true);
}

function ofPart(part: Part, names: Names, isWhole = false): string {
  if (part.kind === 'condition') {
    const text = ofCondition(part, names);
    return part.negated ? t('not', { text }) : text;
  }
  const parts = part.parts.map((one) => ofPart(one, names));
  const text = parts.join(part.mode === 'all' ? t('and') : t('or'));
  if (part.negated) return part.mode === 'any' ? t('none', { text }) : t('notAll', { text });
  return isWhole || parts.length < 2 ? text : `(${text})`;
}

function ofCondition(condition: Condition, names: Names): string {
  const { field, op, values } = condition;
  const word = names.field(field);
  if (op === 'exists') return `${word} ${operatorOf(condition) === 'missing' ? t('missing') : t('exists')}`;
  const shown = values.map((value) => names.value(field, value));
  return `${word} ${operatorWord(op, names.type(field))} ${takesList(op) ? shown.join(', ') : (shown[0] ?? '')}`;
}
