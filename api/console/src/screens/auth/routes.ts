import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '@/app/layout';

/** text returns the search parameter name, if it is there and is text. */
const text = (search: Record<string, unknown>, name: string) =>
  typeof search[name] === 'string' && search[name] !== '' ? search[name] : undefined;

const withToken = (search: Record<string, unknown>): { token?: string } => {
  const token = text(search, 'token');
  return token === undefined ? {} : { token };
};

const login = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: (search: Record<string, unknown>): { next?: string; done?: 'reset' | 'verified' } => {
    const next = text(search, 'next');
    const done = text(search, 'done');
    return {
      ...(next !== undefined && { next }),
      ...((done === 'reset' || done === 'verified') && { done }),
    };
  },
  component: lazyRouteComponent(() => import('./login'), 'Login'),
  staticData: { title: 'Sign in' },
});

const forgot = createRoute({
  getParentRoute: () => rootRoute,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./forgot'), 'ForgotPassword'),
  staticData: { title: 'Reset your password' },
});

const reset = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reset-password',
  validateSearch: withToken,
  component: lazyRouteComponent(() => import('./reset'), 'ResetPassword'),
  staticData: { title: 'Choose a new password' },
});

const invite = createRoute({
  getParentRoute: () => rootRoute,
  path: '/accept-invite',
  validateSearch: withToken,
  component: lazyRouteComponent(() => import('./invite'), 'AcceptInvite'),
  staticData: { title: 'Accept the invitation' },
});

const verify = createRoute({
  getParentRoute: () => rootRoute,
  path: '/verify-email',
  validateSearch: withToken,
  component: lazyRouteComponent(() => import('./verify'), 'VerifyEmail'),
  staticData: { title: 'Confirm your address' },
});

const signup = createRoute({
  getParentRoute: () => rootRoute,
  path: '/signup',
  component: lazyRouteComponent(() => import('./signup'), 'SignUp'),
  staticData: { title: 'Create an organization' },
});

/** The pages outside /app, which need no session. */
export const authRoutes = [login, forgot, reset, invite, verify, signup] as const;
