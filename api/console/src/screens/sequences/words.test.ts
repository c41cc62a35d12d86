import { expect, test } from 'vitest';
import { newStep } from './steps';
import {
  delayText,
  isOpen,
  isWaiting,
  openCount,
  rateText,
  reasonWord,
  sequenceStatus,
  stateWord,
  stepName,
  summaryOf,
  waitText,
  whenText,
  windowText,
} from './words';

test('a step says what it does', () => {
  const mail = newStep('email', [], 0);
  expect(summaryOf(mail)).toBe('No subject yet');
  expect(summaryOf({ ...mail, email: { ...mail.email!, subject: 'Hello' } })).toBe('Hello');
  expect(summaryOf(newStep('condition', [], 0))).toBe('Followed a link?');
  const update = newStep('update', [], 0);
  expect(summaryOf({ ...update, update: { add_tags: ['vip'], remove_tags: ['cold'], set: { stage: 'sql' } } })).toBe(
    'Tags +vip, −cold · Sets stage',
  );
  expect(stepName([mail], mail.key)).toBe('1. No subject yet');
  expect(stepName([mail], 'gone')).toBe('gone');
});

test('delays have their plural forms', () => {
  expect([delayText({ value: 0, unit: 'days' }), delayText({ value: 1, unit: 'hours' })]).toEqual([
    'At once',
    '1 hour later',
  ]);
  expect([0, 1].map((place) => whenText({ value: 0, unit: 'days' }, place))).toEqual(['At once', 'Right after']);
  expect(delayText({ value: 3, unit: 'business_days' })).toBe('3 business days later');
});

test('the window is one sentence', () => {
  const schedule = { days: ['mon' as const, 'tue' as const], holidays: [], from: '09:00', to: '17:00' };
  expect(windowText({ schedule: { ...schedule, time_zone: 'contact' } })).toBe(
    'Mon, Tue between 09:00 and 17:00 on the contact’s clock',
  );
  expect(windowText({ schedule: { ...schedule, from: '00:00', to: '24:00', time_zone: 'UTC' } })).toBe(
    'Mon, Tue at any time of day in UTC',
  );
});

test('states and reasons that are new to the console are shown as they are', () => {
  expect([stateWord('replied').word, stateWord('new_state').word]).toEqual(['Replied', 'new_state']);
  expect([reasonWord('no_email'), reasonWord('user/1'), reasonWord('step_failed')]).toEqual([
    'No address',
    'By a person',
    'Step failed',
  ]);
  expect([isOpen({ state: 'sending' }), isOpen({ state: 'finished' })]).toEqual([true, false]);
  expect(openCount({ active: 2, paused: 1, replied: 7 })).toBe(3);
});

test('a rate has its interval', () => {
  expect(rateText({ value: 0.125, low: 0.081, high: 0.1862 })).toBe('12.5% (8.1% to 18.6%)');
});

test('a sequence that waits for its mailbox says so', () => {
  const silent = { status_reason: 'server_silent', status_detail: 'It is silent.', status_action: 'Check it.' };
  expect([sequenceStatus({ status: 'active', ...silent }), waitText(silent)]).toEqual([
    { tone: 'warn', word: 'Waiting' },
    'It is silent. Check it.',
  ]);
  expect(sequenceStatus({ status: 'paused', status_reason: 'paused_by_user' }).word).toBe('Paused');
  expect(isWaiting({ status: 'active', status_reason: null })).toBe(false);
  expect(waitText({ status_reason: null, status_detail: null, status_action: null })).toBeUndefined();
});
