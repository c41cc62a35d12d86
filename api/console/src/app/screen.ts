import type { Role } from '@/lib/session/grant';
import type { Area } from '@/lib/session/rights';
import type { IconName } from '@/ui/icon';

/** The groups of the sidebar, in their order. settings is the last item, at the bottom. */
export const groups = ['home', 'crm', 'outreach', 'data', 'accounts', 'settings'] as const;

export interface Nav {
  group: (typeof groups)[number];
  /** The place within the group, from 1. */
  order: number;
  icon: IconName;
  /** "g c"; also shown in the palette. */
  keys?: string;
  /** The least role that sees it; viewer if absent. */
  role?: Role;
  /** One of the at most four that the phone's bar shows beside "More". */
  phone?: boolean;
}

/** The place of a screen in the settings. */
export interface Section {
  group: 'You' | 'Organization' | 'Email' | 'Data' | 'Integrations' | 'White label';
  order: number;
  role?: Role;
  /** Hidden from staff who act in a client org, if they may never do what it holds. */
  area?: Area;
}

// What a route states about its screen, as its staticData.
declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** The document's title and the label of the navigation. */
    title?: string;
    /** The screen has a place in the navigation. Its path has no parameters. */
    nav?: Nav;
    /** The screen is a section of the settings. */
    section?: Section;
    /** The guide that the question mark in the page's head opens: its name below /docs/guides/. */
    guide?: string;
  }
}
