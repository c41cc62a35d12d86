import { type ProblemError, isProblem } from './problem';
import { createStore } from './store';

/** The request that another plan would have allowed, while its card is shown. The shell shows the card. */
export const planNeeded = createStore<ProblemError | null>(null);

/** showPlanNeeded opens the card of the plan that lifts the limit, if error is such a limit. */
export function showPlanNeeded(error: unknown): void {
  if (isPlanNeeded(error)) planNeeded.set(error);
}

/** isPlanNeeded reports whether error says that the org's plan does not allow the request. */
export function isPlanNeeded(error: unknown): error is ProblemError {
  return (
    isProblem(error, 'plan_limit_reached') || isProblem(error, 'feature_not_in_plan') || isProblem(error, 'trial_ended')
  );
}
