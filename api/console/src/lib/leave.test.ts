import { createBrowserHistory, createMemoryHistory } from '@tanstack/react-router';
import { expect, test } from 'vitest';
import { guardLeaving } from './leave';

/** guarded returns a history with a guard, whose question is answered with stays. */
function guarded(stays: boolean, isOut = false) {
  const history = createMemoryHistory({ initialEntries: ['/app/home', '/app/templates/1'] });
  let questions = 0;
  const end = guardLeaving(history, () => isOut, async () => {
    questions += 1;
    return stays;
  });
  const at = async () => {
    await new Promise((done) => setTimeout(done));
    return history.location.pathname + history.location.search;
  };
  return { history, end, at, asked: () => questions };
}

test('who stays keeps the page', async () => {
  const { history, at, asked } = guarded(true);
  history.push('/app/contacts');
  expect(await at()).toBe('/app/templates/1');
  history.replace('/app/home');
  expect(await at()).toBe('/app/templates/1');
  expect(asked()).toBe(2);
});

test('who leaves comes to the other page', async () => {
  const { history, at, asked } = guarded(false);
  history.push('/app/contacts');
  expect(await at()).toBe('/app/contacts');
  expect(asked()).toBe(1);
});

test('another search of the same page asks nothing', async () => {
  const { history, at, asked } = guarded(true);
  history.push('/app/templates/1?show=all');
  expect(await at()).toBe('/app/templates/1?show=all');
  expect(asked()).toBe(0);
});

test('a guard that has ended and a sign-out ask nothing', async () => {
  const one = guarded(true);
  one.end();
  one.history.push('/app/contacts');
  expect(await one.at()).toBe('/app/contacts');
  const other = guarded(true, true);
  other.history.push('/login');
  expect(await other.at()).toBe('/login');
  expect(one.asked() + other.asked()).toBe(0);
});

test('the browser asks before the tab is closed, unless the person has signed out', () => {
  const history = createBrowserHistory();
  const closes = () => window.dispatchEvent(new Event('beforeunload', { cancelable: true }));
  let isOut = false;
  const end = guardLeaving(history, () => isOut, async () => true);
  expect(closes()).toBe(false);
  isOut = true;
  expect(closes()).toBe(true);
  isOut = false;
  end();
  expect(closes()).toBe(true);
  history.destroy();
});
