import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

export const jobsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'jobs',
  component: lazyRouteComponent(() => import('./jobs'), 'Jobs'),
  staticData: { title: 'Jobs under way', guide: 'import', section: { group: 'Data', order: 9 } },
});
