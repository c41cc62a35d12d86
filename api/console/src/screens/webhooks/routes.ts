import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';
import { parseFilter } from './filter';

const integrations = 'Integrations' as const;

export const webhooksRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'integrations/webhooks',
  component: lazyRouteComponent(() => import('./list'), 'Webhooks'),
  staticData: { title: 'Webhooks', section: { group: integrations, order: 1 } },
});

export const newWebhookRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'integrations/webhooks/new',
  component: lazyRouteComponent(() => import('./new'), 'NewWebhook'),
  staticData: { title: 'New webhook' },
});

/** One webhook: its deliveries. */
export const webhookRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'integrations/webhooks/$id',
  validateSearch: parseFilter,
  component: lazyRouteComponent(() => import('./webhook'), 'Webhook'),
  staticData: { title: 'Webhook' },
});

export const webhookSettingsRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'integrations/webhooks/$id/settings',
  component: lazyRouteComponent(() => import('./settings'), 'WebhookSettings'),
  staticData: { title: 'Webhook settings' },
});

export const deliveryRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'integrations/webhooks/$id/deliveries/$d',
  component: lazyRouteComponent(() => import('./delivery'), 'DeliveryPage'),
  staticData: { title: 'Delivery' },
});

/** The deliveries of all webhooks. */
export const deliveriesRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'integrations/deliveries',
  validateSearch: parseFilter,
  component: lazyRouteComponent(() => import('./deliveries'), 'Deliveries'),
  staticData: { title: 'Deliveries', section: { group: integrations, order: 2 } },
});

export const webhookRoutes = [
  webhooksRoute,
  newWebhookRoute,
  webhookRoute,
  webhookSettingsRoute,
  deliveryRoute,
  deliveriesRoute,
] as const;
