import { describe } from '@/lib/describe';
import { isPlanNeeded, showPlanNeeded } from '@/lib/planneeded';
import { isProblem } from '@/lib/problem';
import { toast } from '@/ui/toast';

/** tellFailure shows why an action without a form failed: the plan that allows it, or a message that stays. */
export function tellFailure(error: unknown): void {
  if (isPlanNeeded(error)) {
    showPlanNeeded(error);
    return;
  }
  const shown = describe(error);
  if (shown === null) return;
  const first = shown.errors?.[0]?.detail;
  toast({
    kind: 'bad',
    title: shown.title,
    detail: first ?? shown.detail,
    ...(isProblem(error) && { requestId: error.requestId }),
  });
}
