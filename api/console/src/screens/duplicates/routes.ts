import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';

/** What the page shows: groups that were found, or merges. */
interface Search {
  show?: 'merged';
}

export const duplicatesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'duplicates',
  validateSearch: (raw: Record<string, unknown>): Search => (raw['show'] === 'merged' ? { show: 'merged' } : {}),
  component: lazyRouteComponent(() => import('./duplicates'), 'Duplicates'),
  staticData: { title: 'Duplicates', guide: 'segments', nav: { group: 'data', order: 3, icon: 'copy', keys: 'g u' } },
});
