import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';

export const ranges = [7, 30, 90] as const;
export type Range = (typeof ranges)[number];

export const homeRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'home',
  validateSearch: (search: Record<string, unknown>): { days?: Range } => {
    const days = ranges.find((one) => one === Number(search['days']));
    return days === undefined ? {} : { days };
  },
  component: lazyRouteComponent(() => import('./home'), 'Home'),
  staticData: {
    title: 'Home',
    guide: 'index',
    nav: { group: 'home', order: 1, icon: 'home', keys: 'g h', phone: true },
  },
});
