import type { FilterJSON } from '../segments/filter';

/** A condition as its form holds it: one fact about the mails, or any filter. */
export type Check =
  | { kind: 'replied' | 'clicked' | 'bounced'; yes: boolean }
  | { kind: 'clicked_link'; link: string }
  | { kind: 'filter' };

const facts = ['replied', 'clicked', 'bounced'] as const;

/** readCheck returns the form of a filter. What is more than one fact is edited as a filter. */
export function readCheck(filter: FilterJSON): Check {
  const { field, op, value } = filter;
  if (op !== 'eq' || Object.keys(filter).length !== 3) return { kind: 'filter' };
  const fact = facts.find((one) => one === field);
  if (fact !== undefined && typeof value === 'boolean') return { kind: fact, yes: value };
  if (field === 'clicked_link' && typeof value === 'string') return { kind: 'clicked_link', link: value };
  return { kind: 'filter' };
}

/** writeCheck returns the filter of a fact. */
export function writeCheck(check: Exclude<Check, { kind: 'filter' }>): FilterJSON {
  return check.kind === 'clicked_link'
    ? { field: 'clicked_link', op: 'eq', value: check.link }
    : { field: check.kind, op: 'eq', value: check.yes };
}
