import { createRootRoute, createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { NotFound, RouteProblem } from './failure';
import { Root } from './root';
import { Shell } from './shell';
import { Start } from './start';
import './screen';

// The routes that screens hang below.

export const rootRoute = createRootRoute({
  component: Root,
  notFoundComponent: NotFound,
  errorComponent: RouteProblem,
});

/** Everything below /app has the navigation around it and needs a session. */
export const appRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/app',
  component: Shell,
  errorComponent: RouteProblem,
  notFoundComponent: NotFound,
});

/** The first page: Home, or the first place of the navigation. */
export const appIndexRoute = createRoute({ getParentRoute: () => appRoute, path: '/', component: Start });

/** Settings: a list of sections at the left, the section beside it. */
export const settingsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'settings',
  component: lazyRouteComponent(() => import('./settings'), 'Settings'),
  errorComponent: RouteProblem,
  notFoundComponent: NotFound,
  staticData: { title: 'Settings', nav: { group: 'settings', order: 1, icon: 'settings', keys: 'g ,' } },
});

export const settingsIndexRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./settings'), 'SettingsStart'),
});
