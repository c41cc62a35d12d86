import type { Role } from './grant';

const order: readonly Role[] = ['viewer', 'member', 'admin', 'owner'];

/** Rights that staff who act in a client org never have, whatever their role. */
export type Area = 'members' | 'invitations' | 'keys' | 'password' | 'ownership' | 'billing';

const notForStaff: ReadonlySet<Area> = new Set(['members', 'invitations', 'keys', 'password', 'ownership', 'billing']);

/** may reports whether somebody with role may do what needs the role need, in area. */
export function may(role: Role, need: Role, staff = false, area?: Area): boolean {
  if (staff && area !== undefined && notForStaff.has(area)) return false;
  return order.indexOf(role) >= order.indexOf(need);
}
