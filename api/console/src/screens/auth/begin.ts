import type { Api } from '@/lib/api';
import type { Result } from '@/lib/operations';
import type { Grant } from '@/lib/session/grant';
import type { SessionActions } from '@/lib/session/actions';

type Tokens = Result<'post', '/api/v1/auth/login'>;

/**
 * signInAfter signs in to the console after an operation that answered tokens for a program. The session of those
 * tokens is ended: the console keeps its refresh token in the cookie only.
 */
export async function signInAfter(api: Api, actions: SessionActions, tokens: Tokens, password: string): Promise<Grant> {
  const grant = await actions.signIn({ email: tokens.user.email, password, org: tokens.org.id });
  await api
    .post('/api/v1/auth/logout', {
      credential: 'none',
      body: { refresh_token: tokens.refresh_token },
      repeatable: true,
    })
    .catch(() => {}); // it expires unused
  return grant;
}
