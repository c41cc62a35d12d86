import { Link, Navigate, Outlet, useRouter } from '@tanstack/react-router';
import { useScope } from '@/lib/scope';
import { may } from '@/lib/session/rights';
import { PageHead } from '@/ui/page';
import styles from './settings.module.css';

const groups = ['You', 'Organization', 'Email', 'Data', 'Integrations', 'White label'] as const;

/** useSections returns the sections that the user's role sees, in their order. */
function useSections() {
  const router = useRouter();
  const { role, staff } = useScope();
  const sections = Object.values(router.routesById).flatMap((route) => {
    const { section, title } = route.options.staticData ?? {};
    if (section === undefined || title === undefined) return [];
    if (!may(role, section.role ?? 'viewer', staff, section.area)) return [];
    return [{ ...section, title, to: route.fullPath.replace(/\/$/, '') }];
  });
  return sections.sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || a.order - b.order);
}

/** Settings lists the sections at the left; the section is beside it. On a phone the list is above. */
export function Settings() {
  const sections = useSections();
  return (
    <div className={styles.settings}>
      <nav className={styles.list} aria-label="Settings">
        {groups.map((group) => {
          const own = sections.filter((section) => section.group === group);
          if (own.length === 0) return null;
          return (
            <div key={group}>
              <h2 className={styles.group}>{group}</h2>
              <ul>
                {own.map(({ to, title }) => (
                  <li key={to}>
                    <Link to={to} className={styles.section}>
                      {title}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </nav>
      <div className={styles.page}>
        <Outlet />
      </div>
    </div>
  );
}

/** SettingsStart leads on to the first section. */
export function SettingsStart() {
  const [first] = useSections();
  return first === undefined ? <PageHead title="Settings" /> : <Navigate to={first.to} replace />;
}
