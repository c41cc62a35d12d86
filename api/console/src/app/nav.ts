import { useRouter } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useScope } from '@/lib/scope';
import { may } from '@/lib/session/rights';
import { groups, type Nav } from './screen';

/** A place of the navigation. */
export interface Place extends Nav {
  to: string;
  label: string;
}

/** useNav returns the screens that the user's role sees, in the order of the sidebar. */
export function useNav(): readonly Place[] {
  const router = useRouter();
  const { role } = useScope();
  return useMemo(() => {
    const places: Place[] = [];
    for (const route of Object.values(router.routesById)) {
      const { nav, title } = route.options.staticData ?? {};
      if (nav === undefined || title === undefined || !may(role, nav.role ?? 'viewer')) continue;
      places.push({ ...nav, to: route.fullPath.replace(/\/$/, ''), label: title });
    }
    return places.sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || a.order - b.order);
  }, [router, role]);
}
