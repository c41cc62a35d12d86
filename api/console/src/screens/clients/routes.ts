import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';

export const clientsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'clients',
  component: lazyRouteComponent(() => import('./clients'), 'Clients'),
  staticData: {
    title: 'Clients',
    guide: 'white-label',
    nav: { group: 'accounts', order: 2, icon: 'building', keys: 'g l', role: 'admin' },
  },
});
