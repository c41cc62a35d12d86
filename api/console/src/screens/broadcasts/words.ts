import type { Result } from '@/lib/operations';
import type { Tone } from '@/ui/status';
import { t } from './messages';

export type Broadcast = Result<'get', '/api/v1/broadcasts/{id}'>;
export type Stats = Result<'get', '/api/v1/broadcasts/{id}/stats'>['data'][number];
export type Status = Broadcast['status'];

export const tones: Readonly<Record<Status, Tone>> = {
  draft: 'off',
  scheduled: 'warn',
  preparing: 'busy',
  sending: 'busy',
  held: 'warn',
  paused: 'warn',
  sent: 'good',
  cancelled: 'off',
};

/** isOpen reports whether a broadcast can still be changed. */
export function isOpen({ status }: Pick<Broadcast, 'status'>): boolean {
  return status === 'draft' || status === 'scheduled';
}

/** isUnderWay reports whether it is being sent, or would go on. */
export function isUnderWay({ status }: Pick<Broadcast, 'status'>): boolean {
  return status === 'preparing' || status === 'sending' || status === 'held' || status === 'paused';
}

const reasons = [
  'no_email',
  'no_consent',
  'blocked_country',
  'suppressed',
  'merge_missing',
  'archived',
  'already_sent',
] as const;

/** reasonWord returns why contacts are left out. The service may add reasons, which are shown as they are. */
export function reasonWord(reason: string): string {
  const known = reasons.find((one) => one === reason);
  return known === undefined ? reason.replaceAll('_', ' ') : t(known);
}

/** sumOf returns the number of contacts that are left out. */
export function sumOf(leftOut: Readonly<Record<string, number>>): number {
  return Object.values(leftOut).reduce((sum, count) => sum + count, 0);
}

/** addressesOf returns the addresses that a person typed with commas, spaces or lines between them. */
export function addressesOf(text: string): string[] {
  return text.split(/[\s,;]+/).filter((one) => one !== '');
}

/** toTime returns the moment of a day and a time on this computer's clock, or null for what is none. */
export function toTime(day: string, time: string): string | null {
  const at = new Date(`${day}T${time}`);
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

/** totalOf adds up what became of the emails of all variants. */
export function totalOf(rows: readonly Stats[]): Pick<Stats, 'planned' | 'sent' | 'failed' | 'unknown'> {
  const total = { planned: 0, sent: 0, failed: 0, unknown: 0 };
  for (const { planned, sent, failed, unknown } of rows) {
    total.planned += planned;
    total.sent += sent;
    total.failed += failed;
    total.unknown += unknown;
  }
  return total;
}
