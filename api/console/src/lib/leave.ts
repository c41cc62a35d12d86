import type { RouterHistory } from '@tanstack/react-router';

/**
 * guardLeaving asks before another page replaces the one that is open, by a link, a key or the browser's buttons. ask
 * resolves with true if the person stays. The browser itself asks before the tab is closed or loaded again. Another
 * search of the same page asks nothing, and neither does a sign-out, after which a page may show nothing. The guard
 * ends when the returned function is called.
 */
export function guardLeaving(history: RouterHistory, isOut: () => boolean, ask: () => Promise<boolean>): () => void {
  return history.block({
    blockerFn: ({ currentLocation, nextLocation }) =>
      !isOut() && currentLocation.pathname !== nextLocation.pathname && ask(),
    enableBeforeUnload: () => !isOut(),
  });
}
