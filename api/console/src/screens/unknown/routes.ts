import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

export const unknownRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'unknown',
  component: lazyRouteComponent(() => import('./unknown'), 'UnknownSends'),
  staticData: { title: 'Unknown sends', guide: 'email', section: { group: 'Email', order: 4 } },
});
