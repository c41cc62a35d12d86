import type { Result } from '@/lib/operations';
import { randomId } from '@/lib/random';

/** A field that a filter may name, with its type and operators. */
export type FilterField = Result<'get', '/api/v1/crm/filter-fields'>['data'][number];
export type FieldType = FilterField['type'];

/** The limits of the filter language. */
export const limits = { depth: 5, conditions: 50, list: 200 };

/** Condition is one condition as it is edited: a single value is a list of one. */
export interface Condition {
  kind: 'condition';
  id: string;
  negated: boolean;
  field: string;
  op: string;
  /** As the controls hold them: "2026-03-12", "12.5", "true". Times are RFC 3339. */
  values: readonly string[];
}

/** Group combines parts: all of them match, or any; negated: not all, or none. */
export interface Group {
  kind: 'group';
  id: string;
  negated: boolean;
  mode: 'all' | 'any';
  parts: readonly Part[];
}

export type Part = Condition | Group;

export function newGroup(parts: readonly Part[], mode: Group['mode'] = 'all'): Group {
  return { kind: 'group', id: randomId(), negated: false, mode, parts };
}

/** newCondition returns a condition on field with its first operator and no value. */
export function newCondition(field: Pick<FilterField, 'field' | 'operators'>): Condition {
  const op = field.operators[0] ?? 'eq';
  return { kind: 'condition', id: randomId(), negated: false, field: field.field, op, values: [] };
}

/** takesList reports whether the operator has a list of values. */
export function takesList(op: string): boolean {
  return op === 'in' || op === 'not_in';
}

/** readFilter returns the group that edits a stored filter, or null for a value that is no filter. */
export function readFilter(filter: unknown): Group | null {
  const part = readPart(filter);
  if (part === null) return null;
  return part.kind === 'group' ? part : newGroup([part]);
}

function readPart(filter: unknown): Part | null {
  if (!isRecord(filter)) return null;
  if ('not' in filter) {
    const part = readPart(filter['not']);
    return part === null ? null : { ...part, negated: !part.negated };
  }
  for (const mode of ['all', 'any'] as const) {
    const list = filter[mode];
    if (!Array.isArray(list)) continue;
    const parts = list.map(readPart);
    return parts.every((part) => part !== null) ? newGroup(parts, mode) : null;
  }
  const { field, op, value } = filter;
  if (typeof field !== 'string' || typeof op !== 'string') return null;
  const values = (Array.isArray(value) ? value : [value]).map(String);
  return { kind: 'condition', id: randomId(), negated: false, field, op, values };
}

/** FilterJSON is a filter as the API has it. */
export type FilterJSON = { [key: string]: unknown };

/** Written is a filter as the API takes it, and the part at each of its JSON pointers. */
export interface Written {
  filter: FilterJSON;
  at: ReadonlyMap<string, string>;
}

/** writeFilter returns the filter of a group. typeOf returns the type of a field. */
export function writeFilter(group: Group, typeOf: (field: string) => FieldType | undefined): Written {
  const at = new Map<string, string>();
  const write = (part: Part, pointer: string): FilterJSON => {
    at.set(pointer, part.id);
    const inner = part.negated ? `${pointer}/not` : pointer;
    const plain: FilterJSON =
      part.kind === 'condition'
        ? { field: part.field, op: part.op, value: valueOf(part, typeOf(part.field)) }
        : { [part.mode]: part.parts.map((one, i) => write(one, `${inner}/${part.mode}/${i}`)) };
    return part.negated ? { not: plain } : plain;
  };
  return { filter: write(group, ''), at };
}

function valueOf({ op, values }: Condition, type: FieldType | undefined): unknown {
  const one = (text: string): unknown => {
    if (op === 'exists' || type === 'boolean') return text !== 'false';
    return type === 'number' ? Number(text) : text;
  };
  return takesList(op) ? values.map(one) : one(values[0] ?? '');
}

/**
 * partAt returns the id of the part that an error's pointer, such as "#/filter/all/0/value", is about. base is where
 * the filter is in the request.
 */
export function partAt(written: Written, pointer: string, base = '/filter'): string | undefined {
  const plain = pointer.replace(/^#/, '');
  if (plain !== base && !plain.startsWith(`${base}/`)) return undefined;
  let rest = plain.slice(base.length);
  for (;;) {
    const found = written.at.get(rest);
    if (found !== undefined || rest === '') return found;
    rest = rest.slice(0, rest.lastIndexOf('/'));
  }
}

/** refusedAt returns what the service says of the part with that id. base is where the filter is in the request. */
export function refusedAt(
  written: Written,
  errors: readonly { pointer?: string | undefined; detail: string }[],
  id: string,
  base = '/filter',
): string | undefined {
  const own = errors.filter(({ pointer }) => pointer !== undefined && partAt(written, pointer, base) === id);
  return own.length === 0 ? undefined : own.map(({ detail }) => detail).join(' ');
}

export type Fault = 'value' | 'number' | 'list' | 'empty' | 'depth' | 'conditions';

/** faults returns what must be mended before the filter can be used, by the id of the part. */
export function faults(group: Group, typeOf: (field: string) => FieldType | undefined): ReadonlyMap<string, Fault> {
  const found = new Map<string, Fault>();
  let conditions = 0;
  const visit = (part: Part, depth: number) => {
    const around = depth + (part.negated ? 1 : 0);
    if (part.kind === 'condition') {
      conditions++;
      const fault = faultOf(part, typeOf(part.field));
      if (fault !== null) found.set(part.id, fault);
      else if (around > limits.depth) found.set(part.id, 'depth');
      return;
    }
    if (part.parts.length === 0) found.set(part.id, 'empty');
    for (const one of part.parts) visit(one, around + 1);
  };
  visit(group, 0);
  if (conditions > limits.conditions) found.set(group.id, 'conditions');
  return found;
}

function faultOf({ op, values }: Condition, type: FieldType | undefined): Fault | null {
  if (values.length === 0 || values.some((value) => value.trim() === '')) return 'value';
  if (values.length > limits.list) return 'list';
  if (op !== 'exists' && type === 'number' && values.some((value) => !Number.isFinite(Number(value)))) return 'number';
  return null;
}

/** change returns the group with the part of that id replaced; removed if by returns null. */
export function change(group: Group, id: string, by: (part: Part) => Part | null): Group {
  const visit = (part: Part): Part | null => {
    if (part.id === id) return by(part);
    if (part.kind === 'condition') return part;
    return { ...part, parts: part.parts.flatMap((one) => visit(one) ?? []) };
  };
  const changed = visit(group);
  return changed?.kind === 'group' ? changed : { ...group, parts: [] };
}

/** withField returns the condition on another field: operator and values stay where the field takes them. */
export function withField(condition: Condition, from: FilterField | undefined, to: FilterField): Condition {
  const keeps = to.operators.includes(condition.op);
  const op = keeps ? condition.op : (to.operators[0] ?? 'eq');
  const sameValues = keeps && (op === 'exists' || (from?.type === to.type && isFree(from) && isFree(to)));
  return { ...condition, field: to.field, op, values: sameValues ? condition.values : [] };
}

/** Values of free fields are typed, those of others are chosen among the field's own. */
function isFree(field: FilterField): boolean {
  return field.values === undefined && field.type !== 'id';
}

/** withOperator returns the condition with another operator: a list becomes its first value, and a value a list. */
export function withOperator(condition: Condition, op: string): Condition {
  if (op === 'exists') return { ...condition, op, values: ['true'] };
  const values = condition.op === 'exists' ? [] : takesList(op) ? condition.values : condition.values.slice(0, 1);
  return { ...condition, op, values };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
