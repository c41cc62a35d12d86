import { messages } from '@/lib/messages';
import type { Result } from '@/lib/operations';
import type { Tone } from '@/ui/status';
import type { Attempt, Delivery, Status } from './filter';
import { t } from './messages';

export type Webhook = Result<'get', '/api/v1/webhooks/{id}'>;

const m = messages({
  address_not_allowed: 'Address not allowed',
  dns_error: 'Name not found',
  connection_failed: 'No connection',
  tls_error: 'TLS failed',
  timeout: 'Timeout',
  connection_closed: 'Connection closed',
  invalid_response: 'Invalid response',
  interrupted: 'Interrupted',
  redirect: 'Redirect',
  noResponse: 'No response',
  event: 'Automatic',
  test: 'Test',
  redelivery: 'Redelivery',
  replay: 'Replay',
  probe: 'Probe',
});

export const statusWords: Readonly<Record<Status, { tone: Tone; word: string }>> = {
  delivered: { tone: 'good', word: t('statusDelivered') },
  pending: { tone: 'busy', word: t('statusPending') },
  failed: { tone: 'warn', word: t('statusFailed') },
  exhausted: { tone: 'bad', word: t('statusExhausted') },
  discarded: { tone: 'off', word: t('statusDiscarded') },
};

/** triggerWord returns what made a delivery or an attempt. */
export function triggerWord(trigger: Attempt['trigger']): string {
  return m(trigger);
}

const errorClasses = [
  'address_not_allowed',
  'dns_error',
  'connection_failed',
  'tls_error',
  'timeout',
  'connection_closed',
  'invalid_response',
  'interrupted',
  'redirect',
] as const;

/** errorWord returns the class of an error in words. The service may add classes, which are shown as they are. */
export function errorWord(errorClass: string | null): string {
  const known = errorClasses.find((one) => one === errorClass);
  return known === undefined ? (errorClass ?? m('noResponse')) : m(known);
}

/** outcome returns the result of an attempt or a delivery in one word or number: "200", "503", "Timeout". */
export function outcome(code: number | null, errorClass: string | null): string {
  if (code !== null) return String(code);
  return errorClass === null ? '' : errorWord(errorClass);
}

export function toneOf(code: number | null, errorClass: string | null): Tone {
  if (errorClass !== null) return 'bad';
  return code === null ? 'busy' : 'good';
}

/** nameOf returns the address without its scheme, as short as it stays clear. */
export function nameOf(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\/$/, '');
}

export function webhookStatus(hook: Pick<Webhook, 'enabled' | 'disabled_reason'>): { tone: Tone; word: string } {
  if (hook.enabled) return { tone: 'good', word: t('enabled') };
  if (hook.disabled_reason === 'gone') return { tone: 'bad', word: t('gone') };
  if (hook.disabled_reason === 'failing') return { tone: 'bad', word: t('failing') };
  return { tone: 'off', word: t('disabled') };
}

export function eventsWord(events: readonly string[]): string {
  if (events.includes('*')) return t('allEvents');
  const [only] = events;
  return events.length === 1 && only !== undefined ? only : t('someEvents', { count: events.length });
}

/** formatDuration returns "84 ms" or "3.2 s". */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 1) return '< 1 ms';
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

export type { Attempt, Delivery };
