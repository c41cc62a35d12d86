import { randomId } from './random';
import { wait } from './wait';

/** Locks that at most one tab of this browser holds. */
export interface Locks {
  /** Calls work while the lock is held, and returns its result. */
  exclusive<T>(name: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Reports whether another tab may be open. It may be wrong by one tab that has just opened or closed. */
  hasOthers(): Promise<boolean>;
}

type Leases = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const presence = 'funnelwork.tab';

/** browserLocks returns the locks of this browser: Web Locks, or leases in localStorage where http lacks them. */
export function browserLocks(storage: Leases): Locks {
  const manager = navigator.locks as LockManager | undefined;
  if (manager === undefined) return leases(storage);
  // Held until the tab closes, so that others can count the tabs.
  void manager.request(presence, { mode: 'shared' }, () => new Promise(() => {}));
  return {
    exclusive: async (name, work, signal) => await manager.request(name, signal ? { signal } : {}, work),
    async hasOthers() {
      const { held = [] } = await manager.query();
      return held.filter((l) => l.name === presence).length > 1;
    },
  };
}

const leaseLife = 6000;
const leasePoll = 250;

/**
 * leases returns locks that are entries in storage with an expiry. Two tabs that take a free lease within the same
 * few milliseconds are told apart by reading it again; a tab that stops without releasing holds it for six seconds.
 */
export function leases(storage: Leases): Locks {
  const self = randomId();
  const holder = (key: string): string | null => {
    const [id, until] = (storage.getItem(key) ?? '').split(' ');
    return id && Number(until) > Date.now() ? id : null;
  };
  const hold = (key: string) => storage.setItem(key, `${self} ${Date.now() + leaseLife}`);
  return {
    async exclusive(name, work, signal) {
      const key = `${name}.lease`;
      for (;;) {
        if (holder(key) === null) {
          hold(key);
          await wait(leasePoll / 5, signal);
          if (holder(key) === self) break;
        }
        await wait(leasePoll, signal);
      }
      const renewal = setInterval(hold, leaseLife / 3, key);
      try {
        return await work();
      } finally {
        clearInterval(renewal);
        if (holder(key) === self) storage.removeItem(key);
      }
    },
    hasOthers: () => Promise.resolve(true),
  };
}
