import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';

/** What the address of the deals says: which pipeline, as a board or as a list, and how the list is filtered. */
export interface DealsSearch {
  pipeline?: string;
  view?: 'list';
  status?: 'open' | 'won' | 'lost';
  sort?: '-created_at' | 'created_at' | '-amount' | 'expected_close_on';
}

const statuses = ['open', 'won', 'lost'] as const;
const sorts = ['-created_at', 'created_at', '-amount', 'expected_close_on'] as const;

function readSearch(search: Record<string, unknown>): DealsSearch {
  const status = statuses.find((one) => one === search['status']);
  const sort = sorts.find((one) => one === search['sort']);
  return {
    ...(typeof search['pipeline'] === 'string' && { pipeline: search['pipeline'] }),
    ...(search['view'] === 'list' && { view: 'list' as const }),
    ...(status !== undefined && { status }),
    ...(sort !== undefined && { sort }),
  };
}

export const dealsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'deals',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./deals'), 'Deals'),
  staticData: { title: 'Deals', nav: { group: 'crm', order: 3, icon: 'deals', keys: 'g d', phone: true } },
});

export const dealRoute = createRoute({
  getParentRoute: () => dealsRoute,
  path: '$id',
  component: lazyRouteComponent(() => import('./panel'), 'DealPanel'),
  staticData: { title: 'Deal' },
});
