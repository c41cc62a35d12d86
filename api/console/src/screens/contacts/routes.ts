import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';
import { readSearch } from './search';

export const contactsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'contacts',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./contacts'), 'Contacts'),
  staticData: {
    title: 'Contacts',
    guide: 'segments',
    nav: { group: 'crm', order: 1, icon: 'contacts', keys: 'g c', phone: true },
  },
});

export const contactRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'contacts/$id',
  component: lazyRouteComponent(() => import('./contact'), 'ContactPage'),
  staticData: { title: 'Contact', guide: 'scoring' },
});

export const contactScoreRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'contacts/$id/score',
  component: lazyRouteComponent(() => import('./score'), 'ScorePage'),
  staticData: { title: 'Lead score', guide: 'scoring' },
});
