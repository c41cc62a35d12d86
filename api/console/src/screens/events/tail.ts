import { useEffect, useRef, useState } from 'react';
import { useScope } from '@/lib/scope';
import type { Event } from './words';

const kept = 500;

/** prepend puts events in front of those that are known, without repeating any. */
export function prepend(known: readonly Event[], events: readonly Event[], limit = kept): Event[] {
  const ids = new Set(known.map((one) => one.id));
  return [...events.filter((one) => !ids.has(one.id)), ...known].slice(0, limit);
}

/** useTail collects the events of the stream. While it is paused, they wait. */
export function useTail(paused: boolean, accepts: (event: Event) => boolean, onReset: () => void) {
  const { hub } = useScope();
  const [events, setEvents] = useState<readonly Event[]>([]);
  const [waiting, setWaiting] = useState<readonly Event[]>([]);
  const current = useRef({ paused, accepts, onReset });
  current.current = { paused, accepts, onReset };
  useEffect(
    () =>
      hub.listen({
        onEvent: (event) => {
          if (!current.current.accepts(event)) return;
          const set = current.current.paused ? setWaiting : setEvents;
          set((known) => prepend(known, [event]));
        },
        onReset: () => current.current.onReset(),
      }),
    [hub],
  );
  return {
    events,
    waiting: waiting.length,
    /** Shows the events that have waited. */
    show: () => {
      setEvents((known) => prepend(known, waiting));
      setWaiting([]);
    },
    clear: () => {
      setEvents([]);
      setWaiting([]);
    },
  };
}
