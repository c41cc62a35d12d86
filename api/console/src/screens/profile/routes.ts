import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

export const profileRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'profile',
  component: lazyRouteComponent(() => import('./profile'), 'Profile'),
  staticData: { title: 'Profile', guide: 'members', section: { group: 'You', order: 1, area: 'password' } },
});
