import { useCallback, useRef, useState } from 'react';
import { showPlanNeeded } from './planneeded';
import { Submission } from './submission';

export interface Submit<In, Out> {
  /** Sends; resolves with the result, or undefined if it failed. While it is busy, further calls are ignored. */
  submit: (input: In) => Promise<Out | undefined>;
  busy: boolean;
  /** Why the last attempt failed. What was typed is the form's own and stays. */
  error: unknown;
  reset: () => void;
}

/**
 * useSubmit sends a form. send gets an Idempotency-Key that stays the same while the same content is tried again, so
 * that pressing the button twice, or again after a lost connection, takes effect once. If the plan does not allow it,
 * the card of the plan that does is shown.
 */
export function useSubmit<In, Out>(
  send: (input: In, idempotencyKey: string) => Promise<Out>,
  onDone?: (result: Out, input: In) => void,
): Submit<In, Out> {
  const submission = useRef<Submission>(null);
  submission.current ??= new Submission();
  const current = useRef({ send, onDone });
  current.current = { send, onDone };
  const running = useRef(false);
  const [state, setState] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: null });

  const submit = useCallback(async (input: In) => {
    if (running.current) return undefined;
    running.current = true;
    setState({ busy: true, error: null });
    try {
      const result = await submission.current!.run(input, (key) => current.current.send(input, key));
      setState({ busy: false, error: null });
      current.current.onDone?.(result, input);
      return result;
    } catch (error) {
      setState({ busy: false, error });
      showPlanNeeded(error);
      return undefined;
    } finally {
      running.current = false;
    }
  }, []);
  const reset = useCallback(() => setState({ busy: false, error: null }), []);
  return { submit, busy: state.busy, error: state.error, reset };
}
