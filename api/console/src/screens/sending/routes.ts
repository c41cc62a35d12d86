import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

export const sendingRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'sending',
  component: lazyRouteComponent(() => import('./sending'), 'Sending'),
  staticData: { title: 'Sending', guide: 'email', section: { group: 'Email', order: 2 } },
});
