import { expect, test } from 'vitest';
import { addressesOf, isOpen, isUnderWay, reasonWord, sumOf, totalOf, toTime, type Stats } from './words';

test('addresses are read however they are separated', () => {
  expect(addressesOf(' a@x.example, b@x.example;\nc@x.example ')).toEqual(['a@x.example', 'b@x.example', 'c@x.example']);
  expect(addressesOf(' ')).toEqual([]);
});

test('a time is one on the clock of the person', () => {
  expect(toTime('2026-03-12', '09:30')).toBe(new Date(2026, 2, 12, 9, 30).toISOString());
  expect([toTime('', '09:30'), toTime('2026-13-40', '')]).toEqual([null, null]);
});

test('what became of all variants is added up', () => {
  const none = { value: 0, low: 0, high: 0 };
  const row: Stats = {
    variant: 'a',
    planned: 10,
    sent: 8,
    failed: 1,
    unknown: 1,
    delivered: 0,
    opened: 0,
    clicked: 0,
    replied: 0,
    bounced: 0,
    complained: 0,
    machine_opens: 0,
    machine_clicks: 0,
    reply_rate: none,
    click_rate: none,
    bounce_rate: none,
    p_best: null,
  };
  expect(totalOf([row, { ...row, variant: 'b', sent: 10 }])).toEqual({ planned: 20, sent: 18, failed: 2, unknown: 2 });
  expect(totalOf([])).toEqual({ planned: 0, sent: 0, failed: 0, unknown: 0 });
});

test('a broadcast is changed until it begins and stopped until it has ended', () => {
  expect([isOpen({ status: 'scheduled' }), isOpen({ status: 'sending' })]).toEqual([true, false]);
  expect([isUnderWay({ status: 'held' }), isUnderWay({ status: 'paused' }), isUnderWay({ status: 'sent' })]).toEqual([
    true,
    true,
    false,
  ]);
  expect([reasonWord('no_consent'), reasonWord('too_new')]).toEqual(['No consent', 'too new']);
  expect(sumOf({ no_email: 2, suppressed: 3 })).toBe(5);
});
