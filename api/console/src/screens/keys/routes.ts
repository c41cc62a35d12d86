import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

export const keysRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'integrations/keys',
  component: lazyRouteComponent(() => import('./keys'), 'Keys'),
  staticData: {
    title: 'API keys',
    guide: 'members',
    section: { group: 'Integrations', order: 4, role: 'admin', area: 'keys' },
  },
});
