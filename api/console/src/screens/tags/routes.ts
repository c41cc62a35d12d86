import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

export const tagsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'tags',
  component: lazyRouteComponent(() => import('./tags'), 'Tags'),
  staticData: { title: 'Tags', guide: 'segments', section: { group: 'Data', order: 3 } },
});
