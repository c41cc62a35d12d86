import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';
import { readSearch } from './search';

export const companiesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'companies',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./companies'), 'Companies'),
  staticData: {
    title: 'Companies',
    guide: 'segments',
    nav: { group: 'crm', order: 2, icon: 'companies', keys: 'g o' },
  },
});

export const companyRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'companies/$id',
  component: lazyRouteComponent(() => import('./company'), 'CompanyPage'),
  staticData: { title: 'Company', guide: 'segments' },
});
