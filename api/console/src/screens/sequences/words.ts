import { formatPercent } from '@/lib/intl';
import { messages } from '@/lib/messages';
import type { Result } from '@/lib/operations';
import type { IconName } from '@/ui/icon';
import type { Tone } from '@/ui/status';
import { readFilter } from '../segments/filter';
import { fieldWord, sentence, type Names } from '../segments/words';
import { t } from './messages';
import { states } from './states';
import { unitOf, type Delay, type Kind, type Sequence, type Step } from './steps';

export type Enrolment = Result<'get', '/api/v1/sequences/{id}/enrolments'>['data'][number];
export type Stats = Result<'get', '/api/v1/sequences/{id}/stats'>['data'][number];
export type Rate = Stats['reply_rate'];

const m = messages({
  atOnce: 'At once',
  rightAfter: 'Right after',
  minutes: { one: '{count} minute later', other: '{count} minutes later' },
  hours: { one: '{count} hour later', other: '{count} hours later' },
  days: { one: '{count} day later', other: '{count} days later' },
  business_days: { one: '{count} business day later', other: '{count} business days later' },
  noSubject: 'No subject yet',
  replyTo: 'Reply in the thread',
  noTitle: 'No title yet',
  tags: 'Tags {names}',
  fields: 'Sets {names}',
  nothing: 'Changes nothing yet',
  replied: 'Replied?',
  clicked: 'Followed a link?',
  bounced: 'Came back?',
  clicked_link: 'Followed {link}?',
  filter: '{text}?',
  someFilter: 'Conditions',
  no_email: 'No address',
  suppressed: 'Suppressed',
  no_consent: 'No consent',
  blocked_country: 'Blocked country',
  already_open: 'Already in this sequence',
  active_elsewhere: 'In another sequence',
  finished_before: 'Was in it before',
  not_found: 'Not found',
  archived: 'Archived',
  by_user: 'By a person',
  paused_by_user: 'By a person',
  removed_by_user: 'By a person',
  out_of_office: 'Out of office',
  reply_unsure: 'Reply in doubt',
  reply: 'Reply',
  company_reply: 'Reply of somebody in the company',
  deal_won: 'A deal was won',
  goal: 'The goal was met',
  hard_bounce: 'No such address',
  contact_archived: 'The contact was archived',
  merge_missing: 'A merge field has no value',
  sent: 'Mail sent',
  due: 'Its time came',
  waiting: 'Waiting',
  sequence_paused: 'Sequence paused',
  server_silent: 'Mail server is silent',
  daily_cap: 'Daily limit reached',
  held_by_user: 'Mailbox on hold',
  auth_refused: 'Mailbox: password refused',
  reauthorization_required: 'Mailbox: login needed',
});

const statusTones: Readonly<Record<Sequence['status'], Tone>> = {
  draft: 'off',
  active: 'good',
  paused: 'warn',
  archived: 'off',
};

type Waiting = Pick<Sequence, 'status_reason' | 'status_detail' | 'status_action'>;

/** isWaiting reports whether an active sequence waits for a mailbox. */
export function isWaiting(one: Pick<Sequence, 'status' | 'status_reason'>): boolean {
  return one.status === 'active' && one.status_reason !== null;
}

/** sequenceStatus returns the status of a sequence in a word. An active one that waits for a mailbox is waiting. */
export function sequenceStatus(one: Pick<Sequence, 'status' | 'status_reason'>): { tone: Tone; word: string } {
  return isWaiting(one) ? { tone: 'warn', word: m('waiting') } : { tone: statusTones[one.status], word: t(one.status) };
}

/** waitText says what a sequence or an enrolment waits for and what to do about it; undefined if for nothing. */
export function waitText(one: Waiting): string | undefined {
  if (one.status_reason === null) return undefined;
  return [one.status_detail ?? reasonWord(one.status_reason), one.status_action ?? ''].join(' ').trim();
}

export const kindIcons: Readonly<Record<Kind, IconName>> = {
  email: 'mail',
  wait: 'clock',
  task: 'tasks',
  condition: 'filter',
  update: 'edit',
  webhook: 'webhook',
};

export function delayText(delay: Delay): string {
  const { value } = delay;
  return value === 0 ? m('atOnce') : m(unitOf(delay), { count: value });
}

/** whenText says when a step runs: "At once" for the first one, "Right after" for a later one without a delay. */
export function whenText(delay: Delay, place: number): string {
  return delay.value === 0 && place > 0 ? m('rightAfter') : delayText(delay);
}

/** summaryOf says in a few words what a step does. */
export function summaryOf(step: Step): string {
  if (step.email !== undefined) {
    const { subject, thread, variants } = step.email;
    const shown = subject || variants.find((one) => one.subject !== '')?.subject;
    return shown ?? (thread === 'reply' ? m('replyTo') : m('noSubject'));
  }
  if (step.task !== undefined) return step.task.title || m('noTitle');
  if (step.update !== undefined) {
    const { add_tags: added, remove_tags: removed, set } = step.update;
    const tags = [...added.map((tag) => `+${tag}`), ...removed.map((tag) => `−${tag}`)];
    const fields = Object.keys(set);
    const parts = [
      ...(tags.length > 0 ? [m('tags', { names: tags.join(', ') })] : []),
      ...(fields.length > 0 ? [m('fields', { names: fields.join(', ') })] : []),
    ];
    return parts.join(' · ') || m('nothing');
  }
  if (step.condition !== undefined) return filterText(step.condition.filter);
  return delayText(step.delay);
}

function filterText(filter: { [key: string]: unknown }): string {
  const { field, op, value } = filter;
  if ((field === 'replied' || field === 'clicked' || field === 'bounced') && value === true) return m(field);
  if (field === 'clicked_link' && op === 'eq') return m('clicked_link', { link: String(value) });
  const group = readFilter(filter);
  const text = group === null ? '' : sentence(group, plainNames);
  return text === '' ? m('someFilter') : m('filter', { text: text.trimEnd() });
}

/** Names for a filter where no list of fields is at hand. */
const plainNames: Names = { field: (field) => fieldWord(field, new Map()), type: () => undefined, value: (_, value) => value };

/** stepName returns how a step is called where only its key is known: its number and what it does. */
export function stepName(steps: readonly Step[], key: string): string {
  const place = steps.findIndex((step) => step.key === key);
  const step = steps[place];
  return step === undefined ? key : `${place + 1}. ${summaryOf(step)}`;
}

/** windowText says when mails are sent: "Mon to Fri between 09:00 and 17:00 on the contact's clock". */
export function windowText({ schedule }: Pick<Sequence, 'schedule'>): string {
  const { days, from, to, time_zone: zone } = schedule;
  const names = days.map((day) => t(day)).join(', ');
  const hours = from === '00:00' && to === '24:00' ? t('days24') : t('window', { from, to });
  return `${names} ${hours} ${zone === 'contact' ? t('onContactClock') : t('onClock', { zone })}`;
}

const stateTones: Readonly<Record<string, Tone>> = {
  pending: 'off',
  active: 'busy',
  sending: 'busy',
  paused: 'warn',
  finished: 'good',
  replied: 'good',
  goal_met: 'good',
  unsubscribed: 'off',
  bounced: 'bad',
  failed: 'bad',
  removed: 'off',
};

/** stateWord returns the state of an enrolment in words. The service may add states, which are shown as they are. */
export function stateWord(state: string): { tone: Tone; word: string } {
  const known = states.find((one) => one === state);
  const word = known === undefined ? state : t(known === 'removed' ? 'stateRemoved' : known);
  return { tone: stateTones[state] ?? 'off', word };
}

export function isOpen({ state }: Pick<Enrolment, 'state'>): boolean {
  return ['pending', 'active', 'sending', 'paused'].includes(state);
}

const reasons = [
  'no_email',
  'suppressed',
  'no_consent',
  'blocked_country',
  'already_open',
  'active_elsewhere',
  'finished_before',
  'not_found',
  'archived',
  'by_user',
  'paused_by_user',
  'removed_by_user',
  'out_of_office',
  'reply_unsure',
  'reply',
  'company_reply',
  'deal_won',
  'goal',
  'hard_bounce',
  'contact_archived',
  'merge_missing',
  'sent',
  'due',
  'sequence_paused',
  'server_silent',
  'daily_cap',
  'held_by_user',
  'auth_refused',
  'reauthorization_required',
] as const;

/** reasonWord returns a reason or a cause in words. The service may add some, which are shown as they are. */
export function reasonWord(reason: string): string {
  const known = reasons.find((one) => one === reason);
  if (known !== undefined) return m(known);
  if (reason.startsWith('user/')) return m('by_user');
  const plain = reason.replaceAll('_', ' ');
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

/** openCount returns how many contacts are in a sequence. */
export function openCount(counts: Sequence['counts']): number {
  return ['pending', 'active', 'sending', 'paused'].reduce((sum, state) => sum + (counts[state] ?? 0), 0);
}

/** rateText returns a share with its interval: "12.5% (8.1% to 18.6%)". */
export function rateText({ value, low, high }: Rate): string {
  return t('rate', { value: formatPercent(value, 1), low: formatPercent(low, 1), high: formatPercent(high, 1) });
}
