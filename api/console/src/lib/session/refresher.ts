import type { Channel } from '../channel';
import type { Locks } from '../locks';
import { type Grant, isFresh } from './grant';
import type { SessionMessage } from './messages';

const lockName = 'funnelwork.refresh';
const answerTime = 250;

export interface RefresherDeps {
  locks: Locks;
  channel: Channel<SessionMessage>;
  /** Exchanges the cookie for a grant. Resolves null if the cookie is absent or no longer valid. */
  exchange: () => Promise<Grant | null>;
}

/**
 * Refresher obtains grants. A refresh token is for one use, so one tab at a time exchanges the cookie, and shares the
 * grant with the others: a tab that waited for the lock asks them before it exchanges the cookie itself.
 */
export class Refresher {
  #pending: Promise<Grant | null> | null = null;

  constructor(private readonly deps: RefresherDeps) {}

  /**
   * refresh returns a grant that is fresh and not refused, or null if the session has ended. held returns the grant
   * that this tab has by then. Calls that overlap share one exchange.
   */
  refresh(held: () => Grant | null, refused: string | null): Promise<Grant | null> {
    this.#pending ??= this.#obtain(held, refused).finally(() => {
      this.#pending = null;
    });
    return this.#pending;
  }

  /** alone calls work while no tab exchanges the cookie. It is for whatever else replaces the cookie. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.deps.locks.exclusive(lockName, work);
  }

  #obtain(held: () => Grant | null, refused: string | null): Promise<Grant | null> {
    const usable = (grant: Grant | null) => grant !== null && isFresh(grant) && grant.token !== refused;
    return this.deps.locks.exclusive(lockName, async () => {
      const own = held();
      if (usable(own)) return own;
      if (await this.deps.locks.hasOthers()) {
        const shared = await this.#ask(usable);
        if (shared !== null) return shared;
      }
      const grant = await this.deps.exchange();
      if (grant !== null) this.deps.channel.post({ kind: 'grant', grant });
      return grant;
    });
  }

  /** Asks the other tabs for a usable grant. A browser answers within milliseconds unless it has frozen the tab. */
  #ask(usable: (grant: Grant) => boolean): Promise<Grant | null> {
    return new Promise((resolve) => {
      const finish = (grant: Grant | null) => {
        clearTimeout(timer);
        stop();
        resolve(grant);
      };
      const timer = setTimeout(finish, answerTime, null);
      const stop = this.deps.channel.listen((message) => {
        if (message.kind === 'grant' && usable(message.grant)) finish(message.grant);
      });
      this.deps.channel.post({ kind: 'ask' });
    });
  }
}
