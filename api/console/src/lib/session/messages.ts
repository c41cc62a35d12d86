import type { Grant } from './grant';

/** What tabs send each other about the session. */
export type SessionMessage =
  | { kind: 'grant'; grant: Grant }
  /** Asks the tabs that hold a fresh grant to send it. */
  | { kind: 'ask' }
  /** The session was found ended: sign in over the page. */
  | { kind: 'ended' }
  /** The user signed out: leave the page. */
  | { kind: 'signed-out' };
