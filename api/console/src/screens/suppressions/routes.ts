import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

export const suppressionsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'suppressions',
  component: lazyRouteComponent(() => import('./suppressions'), 'Suppressions'),
  staticData: { title: 'Suppressions', guide: 'email', section: { group: 'Email', order: 3 } },
});
