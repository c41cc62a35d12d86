import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';

export const shows = ['mine', 'everyone', 'due', 'overdue', 'done'] as const;
export type Show = (typeof shows)[number];

export const tasksRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'tasks',
  validateSearch: (search: Record<string, unknown>): { show?: Show } => {
    const show = shows.find((one) => one === search['show']);
    return show === undefined ? {} : { show };
  },
  component: lazyRouteComponent(() => import('./tasks'), 'Tasks'),
  staticData: { title: 'Tasks', nav: { group: 'crm', order: 4, icon: 'tasks', keys: 'g t', phone: true } },
});
