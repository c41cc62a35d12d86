import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

export const pipelinesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'pipelines',
  component: lazyRouteComponent(() => import('./pipelines'), 'Pipelines'),
  staticData: { title: 'Pipelines', section: { group: 'Data', order: 2 } },
});
