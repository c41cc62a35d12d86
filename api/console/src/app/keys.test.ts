import { beforeEach, expect, test, vi } from 'vitest';
import { listenForKeys } from './keys';

let enabled = true;
const ran: string[] = [];
const commands = ['c', 'g c', 'mod k', '?', '['].map((keys) => ({
  id: keys,
  label: keys,
  keys,
  run: () => void ran.push(keys),
}));

beforeEach(() => {
  enabled = true;
  ran.length = 0;
  document.body.innerHTML = '<input><div role="dialog"><button></button></div><p></p>';
});

function press(keys: string[], at = 'p') {
  const stop = listenForKeys(document, { commands: () => commands, enabled: () => enabled });
  for (const key of keys) {
    const [mod, name] = key.startsWith('mod ') ? [true, key.slice(4)] : [false, key];
    const event = new KeyboardEvent('keydown', { key: name, ctrlKey: mod, bubbles: true, cancelable: true });
    document.querySelector(at)?.dispatchEvent(event);
  }
  stop();
}

test('a letter runs its command, and a sequence runs the sequence', () => {
  press(['c', 'g', 'c', 'c', '?']);
  expect(ran).toEqual(['c', 'g c', 'c', '?']);
});

test('letters do nothing in fields and dialogs, and when they are switched off', () => {
  press(['c', '['], 'input');
  press(['c'], '[role=dialog] button');
  enabled = false;
  press(['c', 'g', 'c']);
  expect(ran).toEqual([]);
});

test('keys with Ctrl act in fields and when letters are off', () => {
  enabled = false;
  press(['mod k'], 'input');
  expect(ran).toEqual(['mod k']);
});

test('a sequence that takes too long is none', () => {
  vi.useFakeTimers();
  const stop = listenForKeys(document, { commands: () => commands, enabled: () => true });
  const send = (key: string, timeStamp: number) => {
    const event = new KeyboardEvent('keydown', { key, bubbles: true });
    Object.defineProperty(event, 'timeStamp', { value: timeStamp });
    document.body.dispatchEvent(event);
  };
  send('g', 1);
  send('c', 2000);
  expect(ran).toEqual(['c']);
  stop();
  vi.useRealTimers();
});
