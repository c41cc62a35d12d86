import { messages } from '@/lib/messages';
import { formatPercent } from '@/lib/intl';
import type { Result } from '@/lib/operations';
import type { Tone } from '@/ui/status';

export type Mailbox = Result<'get', '/api/v1/mailboxes/{id}'>;
export type Finding = Mailbox['domain']['spf'];

const m = messages({
  unverified: 'Not tested',
  active: 'Active',
  held: 'On hold',
  disabled: 'Disabled',
  auth_refused: 'The server refused the user name or the password. Correct them, then send a test mail.',
  connect_failed: 'The server could not be reached. Check its name and port.',
  test_refused: 'The server did not take the test mail.',
  test_unanswered: 'The server did not answer the test mail.',
  bounce_rate: 'Too many mails came back. Clean the list before you resume it.',
  complaint_rate: 'Too many recipients reported spam. Look at what was sent before you resume it.',
  reauthorization_required: 'The connected account needs a new login.',
  held_by_user: 'A person put it on hold.',
  server_silent: 'A mail server of the mailbox does not respond. It is tried again, less and less often.',
  daily_cap: 'It has sent as many mails in 24 hours as it may. The others wait.',
  unverifiedText: 'Send a test mail to begin. Until one was accepted, nothing else is sent.',
  not_allowed: 'The server may not be reached from here.',
  server_error: 'The server refused a command.',
  mail_unreadable: 'The next mail cannot be read. It is tried again.',
  pass: 'Found',
  missing: 'Missing',
  invalid: 'Wrong',
  unknown: 'Not looked up',
});

/** mailboxName returns how a mailbox is called in lists. */
export function mailboxName(one: Pick<Mailbox, 'name' | 'from_email'>): string {
  return one.name === '' ? one.from_email : one.name;
}

const tones: Readonly<Record<Mailbox['status'], Tone>> = {
  unverified: 'warn',
  active: 'good',
  held: 'warn',
  disabled: 'bad',
};

export function mailboxStatus(one: Pick<Mailbox, 'status'>): { tone: Tone; word: string } {
  return { tone: tones[one.status], word: m(one.status) };
}

const reasons = [
  'auth_refused',
  'connect_failed',
  'test_refused',
  'test_unanswered',
  'bounce_rate',
  'complaint_rate',
  'reauthorization_required',
  'held_by_user',
  'server_silent',
  'daily_cap',
  'not_allowed',
  'server_error',
  'mail_unreadable',
] as const;

/** reasonText returns a reason in a sentence. The service may add reasons, which are shown as they are. */
export function reasonText(reason: string): string {
  const known = reasons.find((one) => one === reason);
  return known === undefined ? reason.replaceAll('_', ' ') : m(known);
}

/** stateText says what a mailbox waits for and what to do about it; undefined if it waits for nothing. */
export function stateText(
  one: Pick<Mailbox, 'status' | 'status_reason' | 'status_detail' | 'status_action'>,
): string | undefined {
  if (one.status_reason === 'server_silent' && one.status_detail !== null) {
    return [one.status_detail, one.status_action].filter((part) => part !== null).join(' ');
  }
  if (one.status_reason !== null) return reasonText(one.status_reason);
  return one.status === 'unverified' ? m('unverifiedText') : undefined;
}

export const findingTones: Readonly<Record<Finding, Tone>> = {
  pass: 'good',
  missing: 'bad',
  invalid: 'bad',
  unknown: 'off',
};

export function findingWord(finding: Finding): string {
  return m(finding);
}

/** rateTone is bad from the rate on at which the platform disables a mailbox, and warn where it slows it down. */
export function rateTone(rate: number | null, warnAt: number, badAt: number): Tone {
  if (rate === null) return 'off';
  return rate >= badAt ? 'bad' : rate >= warnAt ? 'warn' : 'good';
}

export const limits = { bounce: { warn: 0.05, bad: 0.08 }, complaint: { warn: 0.001, bad: 0.003 } } as const;

/** rateText returns a share with one digit, or undefined where nothing was sent. */
export function rateText(rate: number | null): string | undefined {
  return rate === null ? undefined : formatPercent(rate, rate < 0.1 && rate > 0 ? 1 : 0);
}
