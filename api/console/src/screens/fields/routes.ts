import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

export const fieldsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'fields',
  component: lazyRouteComponent(() => import('./fields'), 'Fields'),
  staticData: { title: 'Contact fields', guide: 'segments', section: { group: 'Data', order: 1 } },
});
