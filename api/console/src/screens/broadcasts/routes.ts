import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';

const statuses = ['draft', 'scheduled', 'preparing', 'sending', 'held', 'paused', 'sent', 'cancelled'] as const;

/** What the address of the list says. */
export interface BroadcastsSearch {
  status?: (typeof statuses)[number];
}

export const broadcastsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'broadcasts',
  validateSearch: (search: Record<string, unknown>): BroadcastsSearch => {
    const status = statuses.find((one) => one === search['status']);
    return status === undefined ? {} : { status };
  },
  component: lazyRouteComponent(() => import('./broadcasts'), 'Broadcasts'),
  staticData: { title: 'Broadcasts', guide: 'email', nav: { group: 'outreach', order: 3, icon: 'broadcasts', keys: 'g b' } },
});

export const broadcastRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'broadcasts/$id',
  component: lazyRouteComponent(() => import('./broadcast'), 'BroadcastPage'),
  staticData: { title: 'Broadcast', guide: 'email' },
});
