import type { Target } from '@/lib/operations';

type Query = NonNullable<NonNullable<Target<'/api/v1/crm/companies'>>['query']>;
type Sort = NonNullable<Query['sort']>;

/** The state of the list of companies, as its address has it. */
export interface CompanySearch {
  q?: string;
  owner?: string;
  sort?: Sort;
  archived?: boolean;
  /** The company that the side panel shows. */
  open?: string;
}

export const sorts: readonly Sort[] = ['-created_at', 'created_at', 'name'];

/** readSearch returns the state that an address has; what is malformed is left out. */
export function readSearch(raw: Record<string, unknown>): CompanySearch {
  const out: CompanySearch = {};
  for (const name of ['q', 'owner', 'open'] as const) {
    const value = raw[name];
    if ((typeof value === 'string' || typeof value === 'number') && value !== '') out[name] = String(value);
  }
  const sort = sorts.find((one) => one === raw['sort']);
  if (sort !== undefined && sort !== '-created_at') out.sort = sort;
  if (raw['archived'] === true) out.archived = true;
  return out;
}

/** toQuery returns the parameters of the list that shows search. */
export function toQuery({ q, owner, sort, archived }: CompanySearch): Query {
  return {
    ...(q !== undefined && { q }),
    ...(owner !== undefined && { owner_id: owner }),
    ...(sort !== undefined && { sort }),
    ...(archived && { archived }),
  };
}
