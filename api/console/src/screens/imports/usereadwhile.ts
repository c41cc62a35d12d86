import { useEffect } from 'react';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';

/** Milliseconds between two reads while listed work is under way. */
const activePause = 2000;

/** useReadWhile reads a path again every few seconds while something on it changes by itself. */
export function useReadWhile(
  isActive: boolean,
  path: '/api/v1/crm/contacts/imports' | '/api/v1/crm/contacts/exports',
): void {
  const scope = useScope();
  useEffect(() => {
    if (!isActive) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') invalidate(scope, path);
    }, activePause);
    return () => clearInterval(timer);
  }, [isActive, path, scope]);
}
