import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '@/app/layout';

/** The parts of the design system on one page. It is not linked. */
export const kitRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/app/_kit',
  component: lazyRouteComponent(() => import('./kit'), 'Kit'),
  staticData: { title: 'Parts' },
});
