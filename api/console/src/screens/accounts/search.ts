/** How a login at a platform ended, as the address has it. */
export interface LoginResult {
  status?: 'connected' | 'pending' | 'denied' | 'failed';
  /** With pending: the login whose accounts are to be chosen. */
  pending_id?: string;
}

const results = ['connected', 'pending', 'denied', 'failed'] as const;

/** readSearch returns the result that an address has; what is malformed is left out. */
export function readSearch(raw: Record<string, unknown>): LoginResult {
  const status = results.find((one) => one === raw['status']);
  const pending = raw['pending_id'];
  if (status === undefined || (status === 'pending' && typeof pending !== 'string')) return {};
  return { status, ...(status === 'pending' && typeof pending === 'string' && { pending_id: pending }) };
}
