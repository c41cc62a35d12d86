import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';

export const aiRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'ai',
  component: lazyRouteComponent(() => import('./ai'), 'AI'),
  staticData: {
    title: 'Scoring and AI',
    guide: 'scoring',
    nav: { group: 'accounts', order: 3, icon: 'spark', keys: 'g y' },
  },
});
