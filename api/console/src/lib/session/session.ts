import type { Credentials } from '../api';
import type { Channel } from '../channel';
import type { ProblemError } from '../problem';
import { createStore, type Store } from '../store';
import { type Grant, isFresh, margin, type StaffGrant } from './grant';
import type { SessionMessage } from './messages';
import type { Refresher } from './refresher';

/**
 * The phases of a session:
 * - starting: it is not known yet whether somebody is signed in;
 * - out: nobody is;
 * - in: calls are possible;
 * - ended: somebody was, and signs in again over the page; calls wait;
 * - moved: another tab went on with another org or person; this tab asks what to do.
 */
export type Phase = 'starting' | 'out' | 'in' | 'ended' | 'moved';

export interface SessionState {
  phase: Phase;
  grant: Grant | null;
  /** The grant of the other tab, in phase moved. */
  next: Grant | null;
  /** Set while acting in a client org. */
  staff: StaffGrant | null;
}

export interface SessionDeps {
  refresher: Refresher;
  channel: Channel<SessionMessage>;
  /** The page is visible, so that its token is renewed before it is needed. */
  isVisible: () => boolean;
}

/** Session holds the access token of this tab, in memory only, and is the credential of the API's calls. */
export class Session implements Credentials {
  readonly state: Store<SessionState> = createStore<SessionState>({
    phase: 'starting',
    grant: null,
    next: null,
    staff: null,
  });
  /** Grows when what is known of the user's role may be old. */
  readonly doubts: Store<number> = createStore(0);
  /** Called after the user signed out, here or in another tab. */
  onSignedOut: () => void = () => {};
  #renewal: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly deps: SessionDeps) {
    deps.channel.listen((message) => this.#hear(message));
  }

  /** start finds out whether somebody is signed in. It may be called again after it threw a NetworkError. */
  async start(): Promise<void> {
    const grant = await this.deps.refresher.refresh(() => this.state.get().grant, null);
    if (grant !== null) this.#accept(grant);
    else if (this.state.get().phase === 'starting') this.#set({ phase: 'out' });
  }

  /** adopt takes the grant of a sign-in or of a switch in this tab, and shares it. */
  adopt(grant: Grant): void {
    this.#renewed(grant);
    this.#set({ phase: 'in', grant, next: null, staff: null });
    this.deps.channel.post({ kind: 'grant', grant });
  }

  /** follow goes on with the other tab's org, in phase moved. */
  follow(): void {
    const { next } = this.state.get();
    if (next === null) return;
    this.#renewed(next);
    this.#set({ phase: 'in', grant: next, next: null, staff: null });
  }

  /** act makes the calls go to a client org, with staff's token, until leave or the token's end. */
  act(staff: StaffGrant): void {
    this.#set({ staff });
  }

  leave(): void {
    this.#set({ staff: null });
  }

  /** update changes what is known of the signed-in user, such as the role. */
  update(change: Partial<Pick<Grant, 'user' | 'org' | 'role'>>): void {
    const { grant } = this.state.get();
    if (grant !== null) this.#set({ grant: { ...grant, ...change } });
  }

  /** signedOut forgets everything, here and in the other tabs. */
  signedOut(): void {
    this.deps.channel.post({ kind: 'signed-out' });
    this.#forget();
  }

  async token(own: boolean): Promise<string | null> {
    const { staff, grant, next, phase } = this.state.get();
    if (staff !== null && !own) return staff.token; // its end is for the person to see: it is not renewed
    if (phase === 'out') return null;
    if (phase === 'ended') return this.#resumed();
    if (phase === 'moved') return (own ? next : grant)?.token ?? null; // the cookie is that of the next grant
    if (grant !== null && isFresh(grant)) return grant.token;
    return this.#renew(null);
  }

  async refused(token: string, problem: ProblemError): Promise<boolean> {
    const { staff, grant, phase } = this.state.get();
    if (phase === 'moved') return false;
    if (staff !== null && token === staff.token) {
      this.#set({ staff: { ...staff, expiresAt: 0 } }); // the page offers to enter again
      return false;
    }
    if (grant !== null && grant.token !== token && isFresh(grant)) return true;
    if (problem.code === 'session_ended') {
      // The cookie may already be that of a newer session, begun in another tab.
      return (await this.#renew(token)) !== null;
    }
    if (problem.code !== 'invalid_token' && problem.code !== 'unauthorized') return false;
    return (await this.#renew(token)) !== null;
  }

  forbidden(): void {
    this.doubts.set((n) => n + 1);
  }

  /** Obtains a grant other than refused. If there is none, waits until the user has signed in again. */
  async #renew(refused: string | null): Promise<string | null> {
    const grant = await this.deps.refresher.refresh(() => this.state.get().grant, refused);
    if (grant !== null) {
      this.#accept(grant);
      return this.state.get().phase === 'in' ? grant.token : null;
    }
    if (this.state.get().phase === 'starting') {
      this.#set({ phase: 'out' });
      return null;
    }
    this.#end();
    this.deps.channel.post({ kind: 'ended' });
    return this.#resumed();
  }

  /** Resolves with the token after the same person signed in to the same org again, else null. */
  #resumed(): Promise<string | null> {
    return new Promise((resolve) => {
      const stop = this.state.subscribe(() => {
        const { phase, grant } = this.state.get();
        if (phase === 'ended') return;
        stop();
        resolve(phase === 'in' ? (grant?.token ?? null) : null);
      });
    });
  }

  #accept(grant: Grant): void {
    const { grant: held, phase } = this.state.get();
    if (held !== null && (held.org.id !== grant.org.id || held.user.id !== grant.user.id)) {
      this.#set({ phase: 'moved', next: grant });
      return;
    }
    this.#renewed(grant);
    if (phase === 'moved') this.#set({ phase: 'in', grant, next: null });
    else this.#set({ phase: 'in', grant });
  }

  #hear(message: SessionMessage): void {
    const { phase, grant } = this.state.get();
    switch (message.kind) {
      case 'ask':
        if (phase === 'in' && grant !== null && isFresh(grant)) this.deps.channel.post({ kind: 'grant', grant });
        return;
      case 'grant':
        if (isFresh(message.grant)) this.#accept(message.grant);
        return;
      case 'ended':
        if (phase === 'in') this.#end();
        return;
      case 'signed-out':
        if (phase !== 'out') this.#forget();
    }
  }

  #end(): void {
    clearTimeout(this.#renewal);
    this.#set({ phase: 'ended', staff: null });
  }

  #forget(): void {
    clearTimeout(this.#renewal);
    this.state.set({ phase: 'out', grant: null, next: null, staff: null });
    this.onSignedOut();
  }

  /** Renews the token shortly before its end, if the page is visible then. Else the next call does. */
  #renewed(grant: Grant): void {
    clearTimeout(this.#renewal);
    const jitter = Math.random() * margin;
    this.#renewal = setTimeout(
      () => {
        if (this.deps.isVisible()) void this.#renew(grant.token).catch(() => {}); // the next call tries again
      },
      grant.expiresAt - Date.now() - 2 * margin - jitter,
    );
  }

  #set(change: Partial<SessionState>): void {
    this.state.set((old) => ({ ...old, ...change }));
  }
}
