/** A condition as its form holds it. */
export type Check =
  | { kind: 'replied' | 'clicked' | 'bounced'; yes: boolean }
  | { kind: 'clicked_link'; link: string }
  | { kind: 'field'; field: string; op: string; value: string }
  | { kind: 'json'; text: string };

export type Filter = { [key: string]: unknown };

const facts = ['replied', 'clicked', 'bounced'] as const;

/** readCheck returns the form of a filter. What the form has no fields for is edited as JSON. */
export function readCheck(filter: Filter): Check {
  const { field, op, value } = filter;
  const plain = typeof field === 'string' && typeof op === 'string' && Object.keys(filter).length === 3;
  if (plain) {
    const fact = facts.find((one) => one === field);
    if (fact !== undefined && op === 'eq' && typeof value === 'boolean') return { kind: fact, yes: value };
    if (field === 'clicked_link' && op === 'eq' && typeof value === 'string') return { kind: 'clicked_link', link: value };
    if (fact === undefined && ['string', 'number', 'boolean'].includes(typeof value)) {
      return { kind: 'field', field, op, value: String(value) };
    }
  }
  return { kind: 'json', text: JSON.stringify(filter, null, 2) };
}

/** writeCheck returns the filter of a form, or null while the JSON that was typed is none. */
export function writeCheck(check: Check, typeOf: (field: string) => string | undefined): Filter | null {
  switch (check.kind) {
    case 'clicked_link':
      return { field: 'clicked_link', op: 'eq', value: check.link };
    case 'field':
      return { field: check.field, op: check.op, value: valueOf(check, typeOf(check.field)) };
    case 'json':
      return parse(check.text);
    default:
      return { field: check.kind, op: 'eq', value: check.yes };
  }
}

function valueOf({ op, value }: { op: string; value: string }, type: string | undefined): unknown {
  if (op === 'exists' || type === 'boolean') return value !== 'false';
  if (type === 'number' && value.trim() !== '' && Number.isFinite(Number(value))) return Number(value);
  return value;
}

function parse(text: string): Filter | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}
