import { useNavigate } from '@tanstack/react-router';
import { messages } from '@/lib/messages';
import { planNeeded } from '@/lib/planneeded';
import type { ProblemError } from '@/lib/problem';
import { useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { FeatureList } from '@/screens/billing/features';
import { featureName } from '@/screens/billing/messages';
import { Price } from '@/screens/billing/plancards';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Callout, Progress, Skeleton } from '@/ui/feedback';
import styles from './planneeded.module.css';

const t = messages({
  limit: 'The limit of your plan is reached',
  feature: 'Your plan does not include this',
  trial: 'Your trial has ended',
  kept: 'Nothing was changed, and what you typed is still here.',
  ask: 'An owner of {org} can change the plan.',
  used: '{used} of {limit}',
  sales: 'No listed plan has more of it. Contact us for a plan with your own limits.',
  compare: 'Compare plans',
  see: 'Go to {plan}',
  close: 'Close',
});

/** PlanNeeded is the card of the plan that allows what was refused. It is over the form, which stays as it is. */
export function PlanNeeded({ error }: { error: ProblemError }) {
  const { org } = useScope();
  const isOwner = useMay('owner', 'billing');
  const navigate = useNavigate();
  const catalog = useRead('/billing/plans-with-features').data;
  const subscription = useRead('/billing/subscription').data;
  const { feature, limit, used, upgrade_to: upgradeTo } = error.problem;
  const plan = catalog?.plans.find(({ key }) => key === upgradeTo);
  const current = catalog?.plans.find(({ key }) => key === subscription?.plan);
  const close = () => planNeeded.set(null);
  const lead = () => {
    close();
    void navigate({ to: '/app/settings/billing', search: plan === undefined ? {} : { plan: plan.key } });
  };
  const titles = { feature_not_in_plan: t('feature'), trial_ended: t('trial') };
  const title = error.code in titles ? titles[error.code as keyof typeof titles] : t('limit');
  return (
    <Dialog
      open
      onClose={close}
      title={title}
      intro={`${error.message} ${t('kept')}`}
      foot={
        <>
          <Button onClick={close}>{t('close')}</Button>
          {isOwner && (
            <Button kind="primary" onClick={lead}>
              {plan === undefined ? t('compare') : t('see', { plan: plan.name })}
            </Button>
          )}
        </>
      }
    >
      <div className={styles.body}>
        {typeof feature === 'string' && typeof limit === 'number' && typeof used === 'number' && (
          <Progress label={featureName(feature)} value={used} max={limit} detail={t('used', { used, limit })} tone="bad" />
        )}
        {catalog === undefined || subscription === undefined ? (
          <Skeleton width="60%" />
        ) : plan === undefined ? (
          error.code !== 'trial_ended' && <Callout>{t('sales')}</Callout>
        ) : (
          <div className={styles.card}>
            <h3 className={styles.title}>{plan.name}</h3>
            <Price catalog={catalog} plan={plan} interval={subscription.interval ?? 'month'} />
            <FeatureList
              catalog={catalog}
              from={current}
              to={plan}
              onlyMore
              {...(typeof feature === 'string' && { first: feature })}
            />
          </div>
        )}
        {!isOwner && <Callout>{t('ask', { org: org.name })}</Callout>}
      </div>
    </Dialog>
  );
}
