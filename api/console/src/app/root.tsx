import { Outlet, useRouter, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { brand } from '@/lib/brand';
import { useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import { Toasts } from '@/ui/toast';
import { OfflineBar } from './offline';

/** Root is around every page, signed in or not. */
export function Root() {
  useTheme();
  useTitle();
  useFocusAfterNavigation();
  return (
    <>
      <OfflineBar />
      <Outlet />
      <Toasts />
    </>
  );
}

/** Sets the theme that the person chose. A script before the first paint sets the stored one (boot.ts). */
function useTheme(): void {
  const { theme } = useStore(useServices().preferences);
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  }, [theme]);
}

function useTitle(): void {
  const title = useRouterState({
    select: ({ matches }) => matches.findLast((m) => m.staticData.title)?.staticData.title,
  });
  useEffect(() => {
    document.title = title === undefined ? brand.name : `${title} · ${brand.name}`;
  }, [title]);
}

/**
 * Moves the focus to the heading of a new page, so that a screen reader reads it and Tab goes on from there. A panel
 * that opened beside a list has taken the focus itself.
 */
function useFocusAfterNavigation(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
        if (!pathChanged || fromLocation === undefined) return;
        const main = document.getElementById('main');
        if (main === null || main.contains(document.activeElement)) return;
        (main.querySelector<HTMLElement>('h1') ?? main).focus({ preventScroll: true });
      }),
    [router],
  );
}
