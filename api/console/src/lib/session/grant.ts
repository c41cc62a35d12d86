import type { Result } from '../operations';

type Me = Result<'get', '/api/v1/auth/me'>;

export type Role = Me['role'];
export type User = NonNullable<Me['user']>;
export type OrgName = Me['org'];

/** Grant is an access token with what the service said about it. It lives in memory only. */
export interface Grant {
  token: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  user: User;
  org: OrgName;
  role: Role;
}

/** StaffGrant lets the user act in a client org. It cannot be refreshed. */
export interface StaffGrant {
  token: string;
  expiresAt: number;
  org: OrgName;
  role: Role;
  /** The id of the client org, to enter it again. */
  client: string;
}

/** A token that ends sooner than this is not used for another request. */
export const margin = 30_000;

export function isFresh(grant: { expiresAt: number }, now = Date.now()): boolean {
  return grant.expiresAt - margin > now;
}
