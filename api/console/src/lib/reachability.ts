import type { Reachability } from './api';
import { backoff } from './retry';
import { createStore, type Store } from './store';

export interface ReachabilityState {
  online: boolean;
  /** When the server is tried next, in milliseconds since the epoch; null while online or trying. */
  nextTryAt: number | null;
}

export interface Connection extends Reachability {
  state: Pick<Store<ReachabilityState>, 'get' | 'subscribe'>;
  /** Tries the server at once. */
  tryNow(): void;
}

/**
 * createConnection tracks whether the server answers. navigator.onLine is not used as the truth, since it is true on a
 * network without the server: a request that failed makes the state offline, and any response makes it online again.
 * While offline, probe is called with growing delays.
 */
export function createConnection(probe: () => Promise<unknown>, random = Math.random): Connection {
  const state = createStore<ReachabilityState>({ online: true, nextTryAt: null });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempt = 0;

  const reached = () => {
    clearTimeout(timer);
    attempt = 0;
    if (!state.get().online) state.set({ online: true, nextTryAt: null });
  };
  const schedule = () => {
    const delay = 1000 + backoff(attempt++, random);
    state.set({ online: false, nextTryAt: Date.now() + delay });
    timer = setTimeout(tryNow, delay);
  };
  const tryNow = () => {
    if (state.get().online) return;
    clearTimeout(timer);
    state.set({ online: false, nextTryAt: null });
    probe().then(reached, schedule);
  };
  return {
    state,
    reached,
    tryNow,
    lost() {
      if (state.get().online) schedule();
    },
  };
}
