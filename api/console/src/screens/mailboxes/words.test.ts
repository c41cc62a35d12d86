import { expect, test } from 'vitest';
import { limits, rateText, rateTone, reasonText, stateText } from './words';

test('a mailbox that does not send says why', () => {
  const none = { status_reason: null, status_detail: null, status_action: null };
  expect(stateText({ status: 'active', ...none })).toBeUndefined();
  expect(stateText({ status: 'unverified', ...none })).toMatch(/test mail/);
  expect(stateText({ status: 'disabled', ...none, status_reason: 'bounce_rate' })).toMatch(/came back/);
  const silent = { status_reason: 'server_silent', status_detail: 'It is silent.', status_action: 'Check it.' };
  expect(stateText({ status: 'active', ...silent })).toBe('It is silent. Check it.');
  expect(reasonText('some_new_reason')).toBe('some new reason');
});

test('a rate is warned of before the mailbox is disabled', () => {
  const { warn, bad } = limits.bounce;
  expect([null, 0.01, 0.05, 0.08].map((rate) => rateTone(rate, warn, bad))).toEqual(['off', 'good', 'warn', 'bad']);
  expect([rateText(null), rateText(0), rateText(0.004)]).toEqual([undefined, '0%', '0.4%']);
});
