import type { Result } from '@/lib/operations';

export type Delivery = Result<'get', '/api/v1/webhook-deliveries/{id}'>;
export type Attempt = Delivery['attempts'][number];
export type Status = Delivery['status'];

export const statuses: readonly Status[] = ['delivered', 'pending', 'failed', 'exhausted', 'discarded'];
export const ranges = ['hour', 'day', 'week', 'month'] as const;
export type Range = (typeof ranges)[number];

/** The filter of a list of deliveries, as it is in the address. */
export interface DeliveryFilter {
  status?: Status;
  type?: string;
  range?: Range;
  webhook?: string;
}

/** parseFilter returns the parts of an address's search that are a filter; it leaves out everything else. */
export function parseFilter(search: Record<string, unknown>): DeliveryFilter {
  const filter: DeliveryFilter = {};
  const status = statuses.find((one) => one === search['status']);
  const range = ranges.find((one) => one === search['range']);
  if (status !== undefined) filter.status = status;
  if (range !== undefined) filter.range = range;
  if (typeof search['type'] === 'string' && search['type'] !== '') filter.type = search['type'];
  if (typeof search['webhook'] === 'string' && search['webhook'] !== '') filter.webhook = search['webhook'];
  return filter;
}

const lengths: Readonly<Record<Range, number>> = { hour: 3600, day: 86_400, week: 7 * 86_400, month: 30 * 86_400 };

/** since returns the beginning of a range, to the minute, so that it stays the same while a page is rendered again. */
export function since(range: Range, now = Date.now()): string {
  return new Date(Math.floor((now - lengths[range] * 1000) / 60_000) * 60_000).toISOString();
}
