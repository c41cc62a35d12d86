import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

export const billingRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'billing',
  // plan: the one that lifts the limit that somebody met.
  validateSearch: (search: Record<string, unknown>): { plan?: string } =>
    typeof search['plan'] === 'string' && search['plan'] !== '' ? { plan: search['plan'] } : {},
  component: lazyRouteComponent(() => import('./billing'), 'Billing'),
  staticData: { title: 'Billing', guide: 'billing', section: { group: 'Organization', order: 4, area: 'billing' } },
});
