import { upgradePath } from '@/app/failure';
import { messages } from '@/lib/messages';
import { isProblem } from '@/lib/problem';
import { useMay, useScope } from '@/lib/scope';
import { Callout } from '@/ui/feedback';
import { GoLink } from './golink';

const t = messages({
  title: 'Your plan is full',
  trial: 'Your trial has ended',
  plans: 'Compare plans',
  ask: 'An owner of {org} can change the plan.',
});

/** PlanLimit shows a 402 in the place of a form's problem, with the plan that lifts the limit. */
export function PlanLimit({ error }: { error: unknown }) {
  const { org } = useScope();
  const isOwner = useMay('owner', 'billing');
  if (!isProblem(error) || error.status !== 402) return null;
  return (
    <Callout
      tone="warn"
      title={error.code === 'trial_ended' ? t('trial') : t('title')}
      {...(isOwner && { action: <GoLink href={upgradePath(error)}>{t('plans')}</GoLink> })}
    >
      {error.message} {!isOwner && t('ask', { org: org.name })}
    </Callout>
  );
}

/** isPlanLimit reports whether error is shown by PlanLimit. */
export function isPlanLimit(error: unknown): boolean {
  return isProblem(error) && error.status === 402;
}
