import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

const group = 'White label' as const;

export const brandRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'brand',
  component: lazyRouteComponent(() => import('./brand'), 'BrandPage'),
  staticData: { title: 'Brand', guide: 'white-label', section: { group, order: 1, role: 'admin' } },
});

export const domainRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'domain',
  component: lazyRouteComponent(() => import('./domain'), 'DomainPage'),
  staticData: { title: 'Domain', guide: 'white-label', section: { group, order: 2, role: 'admin' } },
});

export const payoutsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'payouts',
  component: lazyRouteComponent(() => import('./payouts'), 'Payouts'),
  staticData: { title: 'Payouts', guide: 'white-label', section: { group, order: 3, role: 'admin', area: 'billing' } },
});

export const whiteLabelRoutes = [brandRoute, domainRoute, payoutsRoute] as const;
