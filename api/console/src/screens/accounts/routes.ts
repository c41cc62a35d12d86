import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';
import { readSearch } from './search';

/** A login at a platform ends here, with its result in the address. */
export const accountsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'accounts',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./accounts'), 'Accounts'),
  staticData: {
    title: 'Accounts',
    guide: 'accounts',
    nav: { group: 'accounts', order: 1, icon: 'accounts', keys: 'g a' },
  },
});
