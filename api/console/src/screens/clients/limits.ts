/** A feature of the agency that can be allocated: its key, and the agency's own limit; null is no limit. */
export interface Limit {
  key: string;
  own: number | null;
}

/** limitsOf returns the limits that the agency can pass on, by its entitlements. */
export function limitsOf(features: Readonly<Record<string, { type: string; value: unknown }>>): Limit[] {
  return Object.entries(features)
    .filter(([key, { type, value }]) => type === 'limit' && value !== 0 && key !== 'client_orgs' && key !== 'max_client_orgs')
    .map(([key, { value }]) => ({ key, own: typeof value === 'number' ? value : null }))
    .sort((a, b) => a.key.localeCompare(b.key));
}

/** readLimit returns what was typed: a number, null for none (the agency's own), or undefined for no number. */
export function readLimit(text: string): number | null | undefined {
  const plain = text.trim().replaceAll(',', '');
  if (plain === '') return null;
  const value = Number(plain);
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
