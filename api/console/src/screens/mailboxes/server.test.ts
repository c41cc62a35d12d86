import { expect, test } from 'vitest';
import { draftOf, smtpDraft, toServer, wholeOf } from './server';

test('an empty password is not sent, so that the stored one is kept', () => {
  const stored = { host: 'mail.example', port: 465, tls: 'tls' as const, username: 'ada' };
  const draft = draftOf(stored, smtpDraft);
  expect(toServer(draft)).toEqual(stored);
  expect(toServer({ ...draft, password: 'x' })).toEqual({ ...stored, password: 'x' });
});

test('a limit is a whole number or none', () => {
  expect(['', ' 50 ', '0', '1.5', '-1', 'x'].map(wholeOf)).toEqual([null, 50, 0, undefined, undefined, undefined]);
});
