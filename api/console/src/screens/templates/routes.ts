import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';

export const templatesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'templates',
  component: lazyRouteComponent(() => import('./templates'), 'Templates'),
  staticData: { title: 'Templates', guide: 'email', nav: { group: 'outreach', order: 4, icon: 'templates', keys: 'g p' } },
});

export const templateRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'templates/$id',
  component: lazyRouteComponent(() => import('./template'), 'TemplatePage'),
  staticData: { title: 'Template', guide: 'email' },
});
