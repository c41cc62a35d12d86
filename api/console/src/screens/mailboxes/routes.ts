import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

/** What the platform's login adds to the address that it ends at. */
export interface NewMailboxSearch {
  kind?: 'google' | 'microsoft';
  pending_id?: string;
  status?: string;
}

function readSearch(search: Record<string, unknown>): NewMailboxSearch {
  const kind = (['google', 'microsoft'] as const).find((one) => one === search['kind']);
  const { pending_id: pending, status } = search;
  return {
    ...(kind !== undefined && { kind }),
    ...(typeof pending === 'string' && { pending_id: pending }),
    ...(typeof status === 'string' && { status }),
  };
}

export const mailboxesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'mailboxes',
  component: lazyRouteComponent(() => import('./mailboxes'), 'Mailboxes'),
  staticData: { title: 'Mailboxes', guide: 'email', section: { group: 'Email', order: 1 } },
});

export const newMailboxRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'mailboxes/new',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./new'), 'NewMailbox'),
  staticData: { title: 'Connect a mailbox', guide: 'email' },
});

export const mailboxRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'mailboxes/$id',
  component: lazyRouteComponent(() => import('./mailbox'), 'MailboxPage'),
  staticData: { title: 'Mailbox', guide: 'email' },
});

export const mailboxRoutes = [mailboxesRoute, newMailboxRoute, mailboxRoute] as const;
