import { QueryClientProvider } from '@tanstack/react-query';
import { Outlet, useRouter } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { planNeeded } from '@/lib/planneeded';
import { invalidate, useRead } from '@/lib/read';
import { useServices } from '@/lib/services';
import { type Scope, ScopeContext, followEvents, useScope } from '@/lib/scope';
import { useStore } from '@/lib/store';
import { Skeleton } from '@/ui/feedback';
import { later } from '@/ui/later';
import { HeadEnd } from '@/ui/page';
import { commands } from './commands';
import { GuideButton } from './guide';
import { listenForKeys } from './keys';
import { openScope } from './openscope';
import { PhoneBar, Sidebar } from './sidebar';
import { StaffBar } from './staff';
import { useShellCommands } from './shellcommands';
import { useNav } from './nav';
import styles from './shell.module.css';

const Palette = later(() => import('./palette').then((m) => m.Palette));
const Keys = later(() => import('./help').then((m) => m.Keys));
const PlanNeeded = later(() => import('./planneeded').then((m) => m.PlanNeeded));
const SignInOver = later(() => import('./over').then((m) => m.SignInOver));

/** Shell is around every page of the console: it needs a session, and makes everything below belong to one org. */
export function Shell() {
  const { session, locks } = useServices();
  const { phase, grant, staff } = useStore(session.state);
  useSignInPage(phase === 'out');
  const org = staff?.org ?? grant?.org;
  const scope = useMemo(
    () => (org === undefined ? null : openScope(session, locks, org, staff !== null)),
    [session, locks, org?.id, staff !== null],
  );
  useEffect(() => (scope === null ? undefined : () => scope.close()), [scope]);
  if (grant === null || scope === null || org === undefined) return <Starting />;
  return (
    <ScopeContext value={{ ...scope.scope, org, role: staff?.role ?? grant.role }} key={org.id}>
      <QueryClientProvider client={scope.scope.queries}>
        <Frame />
        {(phase === 'ended' || phase === 'moved') && <SignInOver />}
      </QueryClientProvider>
    </ScopeContext>
  );
}

/** Leads to the sign-in page, which leads back here. */
function useSignInPage(out: boolean): void {
  const router = useRouter();
  useEffect(() => {
    const { href } = router.state.location;
    if (out) void router.navigate({ to: '/login', search: { next: href }, replace: true });
  }, [out, router]);
}

const guideButton = <GuideButton />;

function Frame() {
  const scope = useScope();
  const { preferences } = useServices();
  const { collapsed } = useStore(preferences);
  const [palette, setPalette] = useState(false);
  const [keys, setKeys] = useState(false);
  const needed = useStore(planNeeded);
  const nav = useNav();
  useEvents(scope);
  useIdentity(scope);
  useEffect(() => () => planNeeded.set(null), []);
  useEffect(
    () => listenForKeys(document, { commands: commands.get, enabled: () => preferences.get().keys }),
    [preferences],
  );
  useEffect(() => void preferences.load().catch(() => {}), [preferences]); // those of this browser do
  useShellCommands({ nav, openPalette: () => setPalette(true), openKeys: () => setKeys(true) });
  return (
    <div className={styles.shell} data-collapsed={collapsed || undefined}>
      <a className={styles.skip} href="#main">
        Skip to the page
      </a>
      <StaffBar />
      <div className={styles.body}>
        <Sidebar nav={nav} collapsed={collapsed} openPalette={() => setPalette(true)} />
        <main className={styles.main} id="main" tabIndex={-1}>
          <HeadEnd value={guideButton}>
            <Outlet />
          </HeadEnd>
        </main>
      </div>
      <PhoneBar nav={nav} />
      {palette && <Palette onClose={() => setPalette(false)} />}
      {keys && <Keys onClose={() => setKeys(false)} />}
      {needed && <PlanNeeded error={needed} />}
    </div>
  );
}

/** Reads again what events changed. */
function useEvents(scope: Scope): void {
  const { queries, lists, hub } = scope;
  useEffect(() => followEvents({ queries, lists, hub }), [queries, lists, hub]);
}

/** Keeps the user's role and names current: they are read again after a 403 and after the stream was away. */
function useIdentity(scope: Scope): void {
  const { session } = useServices();
  const me = useRead('/api/v1/auth/me');
  const doubts = useStore(session.doubts);
  const connected = useStore(scope.hub.connected);
  useEffect(() => {
    if (doubts > 0 || connected) invalidate(scope, '/api/v1/auth/me');
  }, [doubts, connected]);
  useEffect(() => {
    if (me.data === undefined || scope.staff) return;
    const { user, org, role } = me.data;
    session.update({ org, role, ...(user !== undefined && { user }) });
  }, [me.data, scope.staff, session]);
}

/** What is shown until it is known who is signed in: the frame, without content. */
function Starting() {
  return (
    <div className={styles.shell} aria-busy="true">
      <div className={styles.body}>
        <div className={styles.sidebar}>
          <Skeleton width="60%" />
        </div>
        <main className={styles.main} />
      </div>
    </div>
  );
}
