import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

const names = ['id', 'status', 'route', 'key', 'from', 'to'] as const;

/** The filters of the request log, as they are in its address. */
export type RequestSearch = Partial<Record<(typeof names)[number], string>>;

export const requestsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'integrations/requests',
  validateSearch: (search: Record<string, unknown>): RequestSearch => {
    const found: RequestSearch = {};
    for (const name of names) {
      const value = search[name];
      // An address with a number, such as status=422, has it as a number.
      if (typeof value === 'number' || (typeof value === 'string' && value !== '')) found[name] = String(value);
    }
    return found;
  },
  component: lazyRouteComponent(() => import('./requests'), 'Requests'),
  staticData: { title: 'API requests', guide: 'members', section: { group: 'Integrations', order: 5, role: 'admin' } },
});
