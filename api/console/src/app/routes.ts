import { accountsRoute } from '@/screens/accounts/routes';
import { aiRoute } from '@/screens/ai/routes';
import { auditRoute } from '@/screens/audit/routes';
import { authRoutes } from '@/screens/auth/routes';
import { broadcastRoute, broadcastsRoute } from '@/screens/broadcasts/routes';
import { clientsRoute } from '@/screens/clients/routes';
import { companiesRoute, companyRoute } from '@/screens/companies/routes';
import { contactRoute, contactScoreRoute, contactsRoute } from '@/screens/contacts/routes';
import { billingRoute } from '@/screens/billing/routes';
import { duplicatesRoute } from '@/screens/duplicates/routes';
import { eventRoute, eventsRoute } from '@/screens/events/routes';
import { fieldsRoute } from '@/screens/fields/routes';
import { keysRoute } from '@/screens/keys/routes';
import { dealRoute, dealsRoute } from '@/screens/deals/routes';
import { homeRoute } from '@/screens/home/routes';
import { inboxRoute, threadRoute } from '@/screens/inbox/routes';
import { importRoutes } from '@/screens/imports/routes';
import { jobsRoute } from '@/screens/jobs/routes';
import { kitRoute } from '@/screens/kit/routes';
import { mailboxRoutes } from '@/screens/mailboxes/routes';
import { membersRoute } from '@/screens/members/routes';
import { orgRoute } from '@/screens/org/routes';
import { pipelinesRoute } from '@/screens/pipelines/routes';
import { profileRoute } from '@/screens/profile/routes';
import { sequenceRoutes } from '@/screens/sequences/routes';
import { sendingRoute } from '@/screens/sending/routes';
import { suppressionsRoute } from '@/screens/suppressions/routes';
import { requestsRoute } from '@/screens/requests/routes';
import { segmentRoutes } from '@/screens/segments/routes';
import { tagsRoute } from '@/screens/tags/routes';
import { tasksRoute } from '@/screens/tasks/routes';
import { templateRoute, templatesRoute } from '@/screens/templates/routes';
import { unknownRoute } from '@/screens/unknown/routes';
import { webhookRoutes } from '@/screens/webhooks/routes';
import { whiteLabelRoutes } from '@/screens/whitelabel/routes';
import { appIndexRoute, appRoute, rootRoute, settingsIndexRoute, settingsRoute } from './layout';

// Every screen has one line here: routes below /app in the first list, sections of the settings in the second.
const screens = [
  appIndexRoute,
  homeRoute,
  contactsRoute,
  contactRoute,
  contactScoreRoute,
  companiesRoute,
  companyRoute,
  dealsRoute.addChildren([dealRoute]),
  tasksRoute,
  inboxRoute.addChildren([threadRoute]),
  ...sequenceRoutes,
  broadcastsRoute,
  broadcastRoute,
  templatesRoute,
  templateRoute,
  ...segmentRoutes,
  ...importRoutes,
  duplicatesRoute,
  accountsRoute,
  clientsRoute,
  aiRoute,
] as const;
const integrations = [...webhookRoutes, eventsRoute.addChildren([eventRoute]), keysRoute, requestsRoute] as const;
const sections = [
  settingsIndexRoute,
  profileRoute,
  orgRoute,
  membersRoute,
  billingRoute,
  ...mailboxRoutes,
  sendingRoute,
  suppressionsRoute,
  unknownRoute,
  fieldsRoute,
  tagsRoute,
  pipelinesRoute,
  jobsRoute,
  auditRoute,
  ...integrations,
  ...whiteLabelRoutes,
] as const;

export const routeTree = rootRoute.addChildren([
  ...authRoutes,
  kitRoute,
  appRoute.addChildren([...screens, settingsRoute.addChildren([...sections])]),
]);
