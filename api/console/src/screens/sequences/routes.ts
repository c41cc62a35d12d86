import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { appRoute } from '@/app/layout';
import { states, type State } from './states';

const statuses = ['draft', 'active', 'paused', 'archived'] as const;

/** What the address of the list says. */
export interface SequencesSearch {
  status?: (typeof statuses)[number];
}

export const sequencesRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'sequences',
  validateSearch: (search: Record<string, unknown>): SequencesSearch => {
    const status = statuses.find((one) => one === search['status']);
    return status === undefined ? {} : { status };
  },
  component: lazyRouteComponent(() => import('./sequences'), 'Sequences'),
  staticData: { title: 'Sequences', guide: 'sequences', nav: { group: 'outreach', order: 2, icon: 'sequences', keys: 'g q' } },
});

/** One sequence: its steps. */
export const sequenceRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'sequences/$id',
  component: lazyRouteComponent(() => import('./builder'), 'SequenceSteps'),
  staticData: { title: 'Sequence', guide: 'sequences' },
});

/** What the address of the contacts in a sequence says: their state, and the enrolment that the panel shows. */
export interface EnrolmentsSearch {
  state?: State;
  open?: string;
}

export const sequenceContactsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'sequences/$id/contacts',
  validateSearch: (search: Record<string, unknown>): EnrolmentsSearch => {
    const state = states.find((one) => one === search['state']);
    const { open } = search;
    return { ...(state !== undefined && { state }), ...(typeof open === 'string' && { open }) };
  },
  component: lazyRouteComponent(() => import('./enrolments'), 'SequenceContacts'),
  staticData: { title: 'Contacts in a sequence', guide: 'sequences' },
});

export const sequenceNumbersRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'sequences/$id/numbers',
  component: lazyRouteComponent(() => import('./numbers'), 'SequenceNumbers'),
  staticData: { title: 'Numbers of a sequence', guide: 'sequences' },
});

export const sequenceSettingsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'sequences/$id/settings',
  component: lazyRouteComponent(() => import('./settings'), 'SequenceSettings'),
  staticData: { title: 'Settings of a sequence', guide: 'sequences' },
});

export const sequenceVersionsRoute = createRoute({
  getParentRoute: () => appRoute,
  path: 'sequences/$id/versions',
  component: lazyRouteComponent(() => import('./versions'), 'SequenceVersions'),
  staticData: { title: 'Versions of a sequence', guide: 'sequences' },
});

export const sequenceRoutes = [
  sequencesRoute,
  sequenceRoute,
  sequenceContactsRoute,
  sequenceNumbersRoute,
  sequenceSettingsRoute,
  sequenceVersionsRoute,
] as const;
