import { useEffect } from 'react';
import type { PathOf } from '@/lib/operations';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';

const eventDelay = 1200; // a delivery follows its event within about a second

/**
 * useLive reads the paths again soon after an event, and each period of so many milliseconds, 0 for never. Deliveries
 * emit no events of their own. A hidden page reads nothing.
 */
export function useLive(period: number, ...paths: PathOf<'get'>[]): void {
  const scope = useScope();
  const names = paths.join(' ');
  useEffect(() => {
    const refresh = () => document.visibilityState === 'visible' && invalidate(scope, ...paths);
    let soon: ReturnType<typeof setTimeout> | undefined;
    const stop = scope.hub.listen({
      onEvent: () => {
        soon ??= setTimeout(() => {
          soon = undefined;
          refresh();
        }, eventDelay);
      },
      onReset: refresh,
    });
    const timer = period > 0 ? setInterval(refresh, period) : undefined;
    return () => {
      stop();
      clearTimeout(soon);
      clearInterval(timer);
    };
  }, [scope, names, period]);
}
