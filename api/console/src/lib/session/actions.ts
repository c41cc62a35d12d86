import type { Api } from '../api';
import type { Result } from '../operations';
import { NetworkError, isProblem } from '../problem';
import type { Grant } from './grant';
import type { Refresher } from './refresher';
import type { Session } from './session';

type ConsoleTokens = Result<'post', '/api/v1/auth/console/login'>;

/** What a person does to the session. Each action throws a ProblemError or a NetworkError and then changed nothing. */
export interface SessionActions {
  /** Signs in with a password. Without org, in the org that was used last. */
  signIn(credentials: { email: string; password: string; org?: string }): Promise<Grant>;
  /** Ends the session here and in all tabs. */
  signOut(): Promise<void>;
  switchOrg(org: string): Promise<Grant>;
  /** Acts in a client org, in this tab. */
  enterClient(id: string): Promise<void>;
}

export function sessionActions(api: Api, session: Session, refresher: Refresher, storage: Marks): SessionActions {
  const alone: Refresher['alone'] = (work) => refresher.alone(work);
  return {
    async signIn({ email, password, org }) {
      const body = org === undefined ? { email, password } : { email, password, org_id: org };
      const { data } = await alone(() => api.post('/api/v1/auth/console/login', { credential: 'none', body }));
      const grant = grantOf(data);
      storage.setItem(marker, '1');
      session.adopt(grant);
      return grant;
    },
    async signOut() {
      await alone(() => api.post('/api/v1/auth/console/logout', { credential: 'none', repeatable: true }));
      storage.removeItem(marker);
      session.signedOut();
    },
    async switchOrg(org) {
      const body = { org_id: org };
      const { data } = await alone(() => api.post('/api/v1/auth/console/switch', { credential: 'none', body }));
      const grant = grantOf(data);
      session.adopt(grant);
      return grant;
    },
    async enterClient(id) {
      const { data } = await api.post('/api/v1/orgs/clients/{id}/token', { credential: 'own', path: { id } });
      session.act({
        token: data.access_token,
        expiresAt: Date.now() + data.expires_in * 1000,
        org: data.org,
        role: data.role,
        client: id,
      });
    },
  };
}

/** Whether somebody has signed in with this browser. It is no secret, and only spares a request that would fail. */
const marker = 'funnelwork.signed-in';
type Marks = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/**
 * exchangeCookie returns the exchange of the Refresher. isPublic reports whether the page needs no session: there, a
 * browser that nobody has signed in with sends no request.
 */
export function exchangeCookie(api: () => Api, isPublic: () => boolean, storage: Marks): () => Promise<Grant | null> {
  return async () => {
    if (isPublic() && storage.getItem(marker) === null) return null;
    try {
      const { data } = await api().post('/api/v1/auth/console/refresh', { credential: 'none', repeatable: true });
      storage.setItem(marker, '1');
      return grantOf(data);
    } catch (error) {
      if (isProblem(error) && error.status === 401) {
        storage.removeItem(marker);
        return null;
      }
      throw error;
    }
  };
}

export function isTransient(error: unknown): boolean {
  return error instanceof NetworkError || (isProblem(error) && (error.status >= 500 || error.status === 429));
}

function grantOf(tokens: ConsoleTokens): Grant {
  return {
    token: tokens.access_token,
    expiresAt: Date.now() + tokens.expires_in * 1000,
    user: tokens.user,
    org: tokens.org,
    role: tokens.role,
  };
}
