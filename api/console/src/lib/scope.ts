import { QueryClient } from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { Pages } from './list/pages';
import { readRetryDelay, shouldRetryRead } from './retry';
import type { Role } from './session/grant';
import { type Area, may } from './session/rights';
import { affects, type ReadKey } from './stream/invalidate';
import type { Envelope, Hub } from './stream/hub';

/** What belongs to one org: what was read of it, and its events. It ends when the tab turns to another org. */
export interface Scope {
  org: { id: string; name: string };
  role: Role;
  /** Acting in a client org. */
  staff: boolean;
  queries: QueryClient;
  lists: Lists;
  hub: Hub;
}

export const ScopeContext = createContext<Scope | null>(null);

export function useScope(): Scope {
  const scope = useContext(ScopeContext);
  if (scope === null) throw new Error('no ScopeContext');
  return scope;
}

/** useMay reports whether the user may do what needs role, in area. */
export function useMay(role: Role, area?: Area): boolean {
  const scope = useScope();
  return may(scope.role, role, scope.staff, area);
}

export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 30_000, // the stream tells of changes; this bounds what it cannot tell
        retry: shouldRetryRead,
        retryDelay: readRetryDelay,
      },
    },
  });
}

const keptLists = 12;

/** Lists keeps the lists that were shown last with their rows and scroll offset, so that going back loses no place. */
export class Lists {
  readonly #all = new Map<string, { key: ReadKey; pages: Pages<unknown>; offset: number }>();

  /** of returns the list with key, made by make if it is not kept. Key and row type belong together. */
  of<T>(key: ReadKey, make: () => Pages<T>): { pages: Pages<T>; offset: number } {
    const name = JSON.stringify(key);
    const kept = this.#all.get(name) ?? { key, pages: make() as Pages<unknown>, offset: 0 };
    this.#all.delete(name);
    this.#all.set(name, kept);
    for (const [old] of this.#all) {
      if (this.#all.size <= keptLists) break;
      this.#all.delete(old);
    }
    return kept as unknown as { pages: Pages<T>; offset: number };
  }

  /** refresh reads again the lists that match. */
  refresh(matches: (key: ReadKey) => boolean): void {
    for (const { key, pages } of this.#all.values()) {
      if (matches(key)) pages.refresh();
    }
  }
}

/** A burst of events, such as an import's, makes one refresh per this many milliseconds. */
const gatherTime = 400;
const busyTime = 2000;

/** followEvents reads again what an event has changed. The first event of a burst acts soon, the others together. */
export function followEvents(scope: Pick<Scope, 'queries' | 'lists' | 'hub'>): () => void {
  let waiting: Envelope[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  const refresh = (matches: (key: ReadKey) => boolean) => {
    void scope.queries.invalidateQueries({ predicate: ({ queryKey }) => matches(queryKey as unknown as ReadKey) });
    scope.lists.refresh(matches);
  };
  const flush = () => {
    timer = undefined;
    last = Date.now();
    const events = waiting;
    waiting = [];
    refresh((key) => events.some((event) => affects(event, key)));
  };
  const stop = scope.hub.listen({
    onEvent(event) {
      waiting.push(event);
      timer ??= setTimeout(flush, Math.max(gatherTime, last + busyTime - Date.now()));
    },
    onReset() {
      waiting = [];
      refresh(() => true);
    },
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
