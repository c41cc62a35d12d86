import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';
import { readSearch } from './search';

export const segmentsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'segments',
  validateSearch: readSearch,
  component: lazyRouteComponent(() => import('./segments'), 'Segments'),
  staticData: { title: 'Segments', guide: 'segments', nav: { group: 'data', order: 1, icon: 'segments', keys: 'g s' } },
});

export const newSegmentRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'segments/new',
  component: lazyRouteComponent(() => import('./new'), 'NewSegment'),
  staticData: { title: 'New segment', guide: 'segments' },
});

export const segmentRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'segments/$id',
  component: lazyRouteComponent(() => import('./segment'), 'SegmentPage'),
  staticData: { title: 'Segment', guide: 'segments' },
});

export const segmentRoutes = [segmentsRoute, newSegmentRoute, segmentRoute] as const;
