import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { settingsRoute } from '@/app/layout';

const names = ['actor', 'action', 'target', 'after', 'before'] as const;

/** The filters of the audit log, as they are in its address. */
export type AuditSearch = Partial<Record<(typeof names)[number], string>>;

export const auditRoute = createRoute({
  getParentRoute: () => settingsRoute,
  path: 'audit',
  validateSearch: (search: Record<string, unknown>): AuditSearch => {
    const found: AuditSearch = {};
    for (const name of names) {
      const value = search[name];
      if (typeof value === 'string' && value !== '') found[name] = value;
    }
    return found;
  },
  component: lazyRouteComponent(() => import('./audit'), 'Audit'),
  staticData: { title: 'Audit log', guide: 'members', section: { group: 'Organization', order: 5, role: 'admin' } },
});
