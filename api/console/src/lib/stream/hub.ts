import type { Channel } from '../channel';
import type { Locks } from '../locks';
import type { Result } from '../operations';
import { createStore } from '../store';
import type { ServerEvent } from './parse';

export type Envelope = Result<'get', '/api/v1/events'>['data'][number];

/** What the tab that reads the stream sends to the others. */
export type StreamMessage = { kind: 'event'; event: ServerEvent } | { kind: 'connected'; connected: boolean };

export interface HubDeps {
  locks: Locks;
  channel: Channel<StreamMessage>;
  /** Reads the stream until the signal is aborted: readStream. */
  read: (
    on: { onEvent: (event: ServerEvent) => void; onConnected: (connected: boolean) => void },
    lastEventId: () => string,
    signal: AbortSignal,
  ) => Promise<void>;
}

export interface HubListener {
  /** An event of the org. */
  onEvent: (event: Envelope) => void;
  /** Events may have been missed: everything that is shown is to be read again. */
  onReset: () => void;
}

/**
 * Hub delivers the events of one org to every tab of this browser over one connection: the tab that holds the lock
 * reads the stream and forwards it. When that tab closes, the next one goes on after the last event it received.
 */
export class Hub {
  readonly connected = createStore(false);
  #lastEventId = '';
  readonly #listeners = new Set<HubListener>();
  readonly #stop = new AbortController();
  readonly #stopListening: () => void;

  constructor(
    private readonly deps: HubDeps,
    org: string,
  ) {
    this.#stopListening = deps.channel.listen((message) => {
      if (message.kind === 'event') this.#receive(message.event);
      else this.connected.set(message.connected);
    });
    const lead = () =>
      deps.read({ onEvent: this.#forward, onConnected: this.#report }, () => this.#lastEventId, this.#stop.signal);
    deps.locks.exclusive(`funnelwork.stream.${org}`, lead, this.#stop.signal).catch(() => {}); // closed
  }

  listen(listener: HubListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    this.#stopListening();
    this.#stop.abort();
    this.#listeners.clear();
  }

  readonly #forward = (event: ServerEvent) => {
    this.deps.channel.post({ kind: 'event', event });
    this.#receive(event);
  };

  readonly #report = (connected: boolean) => {
    this.deps.channel.post({ kind: 'connected', connected });
    this.connected.set(connected);
  };

  #receive(event: ServerEvent): void {
    if (event.id !== '') this.#lastEventId = event.id;
    if (event.type === 'reset') {
      for (const listener of this.#listeners) listener.onReset();
      return;
    }
    let envelope: Envelope;
    try {
      envelope = JSON.parse(event.data) as Envelope;
    } catch {
      return; // not an event of the feed
    }
    for (const listener of this.#listeners) listener.onEvent(envelope);
  }
}
