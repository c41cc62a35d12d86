import { useState } from 'react';
import { tellFailure } from '@/app/tell';
import type { PathOf } from '@/lib/operations';
import { randomId } from '@/lib/random';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { toast, type Toast } from '@/ui/toast';

export interface Act {
  /** The action that runs, by the name that run was given; null if none does. */
  busy: string | null;
  /** run calls call with an Idempotency-Key. It shows done after a success and the problem after a failure. */
  run: (name: string, call: (key: string) => Promise<unknown>, done?: Toast) => Promise<boolean>;
}

/** useAct runs actions that have no form, such as Pause, one at a time. After each, what is below paths is read again. */
export function useAct(...paths: PathOf<'get'>[]): Act {
  const scope = useScope();
  const [busy, setBusy] = useState<string | null>(null);
  const run: Act['run'] = async (name, call, done) => {
    if (busy !== null) return false;
    setBusy(name);
    try {
      await call(randomId());
      if (done !== undefined) toast(done);
      return true;
    } catch (error) {
      tellFailure(error);
      return false;
    } finally {
      setBusy(null);
      invalidate(scope, ...paths);
    }
  };
  return { busy, run };
}
