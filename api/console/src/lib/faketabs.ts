import type { Channel } from './channel';
import type { Locks } from './locks';

// Tabs of one browser, for tests.

/** fakeBrowser returns channels and locks that are shared by the tabs that ask for them. */
export function fakeBrowser(): { channel: <T>() => Channel<T>; locks: Locks; tabs: { count: number } } {
  const listeners: { owner: object; hear: (message: never) => void }[] = [];
  const waiting = new Map<string, Promise<unknown>>();
  const tabs = { count: 1 };
  return {
    tabs,
    channel<T>(): Channel<T> {
      const owner = {};
      return {
        post: (message) => {
          for (const other of [...listeners]) {
            if (other.owner !== owner) queueMicrotask(() => other.hear(structuredClone(message) as never));
          }
        },
        listen: (listener) => {
          const entry = { owner, hear: listener as (message: never) => void };
          listeners.push(entry);
          return () => listeners.splice(listeners.indexOf(entry), 1);
        },
      };
    },
    locks: {
      async exclusive(name, work, signal) {
        const before = waiting.get(name) ?? Promise.resolve();
        const turn = before.then(() => {
          signal?.throwIfAborted();
          return work();
        });
        waiting.set(
          name,
          turn.catch(() => {}),
        );
        return turn;
      },
      hasOthers: () => Promise.resolve(tabs.count > 1),
    },
  };
}
