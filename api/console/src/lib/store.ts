import { useSyncExternalStore } from 'react';

/** A value that may change, with subscribers. get returns the same object until set is called with another one. */
export interface Store<T> {
  get(): T;
  set(next: T | ((old: T) => T)): void;
  subscribe(listener: () => void): () => void;
}

/** createStore returns a store that holds initial. Subscribers run synchronously, after the value has changed. */
export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      const to = typeof next === 'function' ? (next as (old: T) => T)(value) : next;
      if (Object.is(to, value)) return;
      value = to;
      for (const listener of [...listeners]) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** useStore returns the store's value and renders again when it changes. */
export function useStore<T>(store: Pick<Store<T>, 'get' | 'subscribe'>): T {
  return useSyncExternalStore(store.subscribe, store.get);
}
