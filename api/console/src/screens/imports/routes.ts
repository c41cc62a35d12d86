import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';

/** The list of imports, or of exports, as its address has it. */
interface Search {
  show?: 'exports';
}

export const importsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'imports',
  validateSearch: (raw: Record<string, unknown>): Search => (raw['show'] === 'exports' ? { show: 'exports' } : {}),
  component: lazyRouteComponent(() => import('./imports'), 'Imports'),
  staticData: { title: 'Imports', guide: 'import', nav: { group: 'data', order: 2, icon: 'imports', keys: 'g f' } },
});

export const newImportRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'imports/new',
  component: lazyRouteComponent(() => import('./new'), 'NewImport'),
  staticData: { title: 'Import a file', guide: 'import' },
});

export const importRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'imports/$id',
  component: lazyRouteComponent(() => import('./import'), 'ImportPage'),
  staticData: { title: 'Import', guide: 'import' },
});

export const importRoutes = [importsRoute, newImportRoute, importRoute] as const;
