import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

export const orgRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'org',
  component: lazyRouteComponent(() => import('./org'), 'Organization'),
  staticData: { title: 'Organization', guide: 'index', section: { group: 'Organization', order: 1 } },
});
