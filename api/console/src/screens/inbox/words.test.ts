import { expect, test } from 'vitest';
import { answered, lastSent, replySubject, senderOf, type Message } from './words';

function message(id: string, direction: Message['direction'], kind: Message['class'] = null): Message {
  return {
    id,
    direction,
    class: kind,
    attachments: [],
    back_on: null,
    bounce: null,
    class_by: null,
    code: null,
    contact_id: null,
    diagnostic: null,
    email_id: null,
    from: 'grace@example.com',
    from_name: '',
    html: null,
    mailbox_id: 'm',
    match: null,
    message_id: null,
    received_at: '2026-01-01T00:00:00Z',
    recipient: null,
    reply_text: '',
    sure: true,
    subject: '',
    text: '',
    thread_id: 't',
    to: [],
  };
}

test('an answer answers a person before a machine, in the thread of the last email', () => {
  const all = [message('1', 'out'), message('2', 'in', 'human'), message('3', 'in', 'auto_reply')];
  expect(answered(all)?.id).toBe('2');
  expect(answered([message('1', 'in', 'list')])?.id).toBe('1');
  expect(answered([message('1', 'out')])).toBeUndefined();
  expect([lastSent(all), lastSent([message('1', 'in')])]).toEqual(['1', undefined]);
});

test('a subject is marked as an answer once', () => {
  expect([replySubject('Looms'), replySubject('Re: Looms'), replySubject('AW: Webstühle')]).toEqual([
    'Re: Looms',
    'Re: Looms',
    'AW: Webstühle',
  ]);
});

test('a sender without a name is its address', () => {
  expect(senderOf(message('1', 'in'))).toBe('grace@example.com');
  expect(senderOf(message('1', 'out'))).toBe('You');
});
