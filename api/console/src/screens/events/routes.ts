import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

/** The filter of the events, as it is in the address. */
export interface EventSearch {
  type?: string;
}

function parseSearch(search: Record<string, unknown>): EventSearch {
  const type = search['type'];
  return typeof type === 'string' && type !== '' ? { type } : {};
}

export const eventsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'integrations/events',
  validateSearch: parseSearch,
  component: lazyRouteComponent(() => import('./events'), 'Events'),
  staticData: { title: 'Events', section: { group: 'Integrations', order: 3 } },
});

/** One event in a panel beside the list. */
export const eventRoute = createRoute({
  getParentRoute: () => eventsRoute,
  path: '$id',
  component: lazyRouteComponent(() => import('./event'), 'EventPanel'),
  staticData: { title: 'Event' },
});
