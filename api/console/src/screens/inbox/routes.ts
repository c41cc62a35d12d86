import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';

/** What the address of the inbox says: all conversations or the unread ones, and of which mailbox. */
export interface InboxSearch {
  show?: 'all';
  mailbox?: string;
}

export const inboxRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'inbox',
  validateSearch: (search: Record<string, unknown>): InboxSearch => ({
    ...(search['show'] === 'all' && { show: 'all' as const }),
    ...(typeof search['mailbox'] === 'string' && { mailbox: search['mailbox'] }),
  }),
  component: lazyRouteComponent(() => import('./inbox'), 'Inbox'),
  staticData: { title: 'Inbox', guide: 'email', nav: { group: 'outreach', order: 1, icon: 'inbox', keys: 'g i' } },
});

export const threadRoute = createRoute({
  getParentRoute: () => inboxRoute,
  path: '$id',
  component: lazyRouteComponent(() => import('./thread'), 'ThreadPage'),
  staticData: { title: 'Conversation' },
});
