import type { Result } from '@/lib/operations';
import type { Tone } from '@/ui/status';
import { t } from './messages';

export type Conversation = Result<'get', '/api/v1/crm/threads/{id}'>;
export type Message = Conversation['messages'][number];
export type MessageClass = NonNullable<Message['class']>;

export const classes: readonly MessageClass[] = [
  'human',
  'auto_reply',
  'bounce',
  'complaint',
  'unsubscribe_request',
  'list',
  'delivery_report',
  'unknown',
];

export const classTones: Readonly<Record<MessageClass, Tone>> = {
  human: 'good',
  auto_reply: 'off',
  bounce: 'bad',
  complaint: 'bad',
  unsubscribe_request: 'warn',
  list: 'off',
  delivery_report: 'off',
  unknown: 'warn',
};

export function classWord(one: MessageClass): string {
  return t(one);
}

/** senderOf returns how the sender of a message is called. */
export function senderOf(message: Pick<Message, 'direction' | 'from' | 'from_name'>): string {
  if (message.direction === 'out') return t('you');
  return message.from_name || message.from;
}

/** replySubject returns the subject of an answer. */
export function replySubject(subject: string): string {
  return /^\s*(re|aw|sv|tr)\s*:/i.test(subject) ? subject : `Re: ${subject}`;
}

/** The message that an answer answers: the latest one of a person, else the latest incoming one. */
export function answered(messages: readonly Message[]): Message | undefined {
  const incoming = messages.filter((one) => one.direction === 'in');
  return incoming.findLast((one) => one.class === 'human') ?? incoming.at(-1);
}

/** lastSent returns the latest email of the org in a conversation, which an answer names so that it is in its thread. */
export function lastSent(messages: readonly Message[]): string | undefined {
  return messages.findLast((one) => one.direction === 'out')?.id;
}
