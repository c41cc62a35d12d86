import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

export const membersRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'members',
  component: lazyRouteComponent(() => import('./members'), 'Members'),
  staticData: {
    title: 'Members',
    guide: 'members',
    section: { group: 'Organization', order: 2, role: 'admin', area: 'members' },
  },
});
