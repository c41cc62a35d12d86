import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { formatDay, formatMoney, formatPercent } from '@/lib/intl';
import { useScope } from '@/lib/scope';
import { Button } from '@/ui/button';
import { Segments } from '@/ui/choice';
import { Copy } from '@/ui/copy';
import { cx } from '@/ui/cx';
import { Dialog } from '@/ui/dialog';
import { Badge } from '@/ui/status';
import type { Account } from './billing';
import type { Wish } from './change';
import { FeatureList } from './features';
import { t } from './messages';
import { type Interval, type Plan, archetypes, isSubscribed, monthly, rank } from './plans';
import styles from './billing.module.css';

/** Plans are the cards of the plans to choose from, with what each has beside the current one. */
export function Plans({ account, onChoose }: { account: Account; onChoose: (wish: Wish) => void }) {
  const { catalog, subscription } = account;
  const { plan: wanted } = useSearch({ from: '/app/settings/billing' });
  const find = (key: string | undefined) => catalog.plans.find((plan) => plan.key === key);
  const [archetype, setArchetype] = useState((find(wanted) ?? find(subscription.plan))?.billing_archetype ?? 'solo_smb');
  const [interval, setInterval] = useState<Interval>(subscription.interval ?? 'month');
  const [asking, setAsking] = useState<Plan | null>(null);
  const shown = catalog.plans.filter((p) => p.billing_archetype === archetype && (p.selectable || p.custom_pricing));
  const saves = Math.max(...shown.map((plan) => plan.annual_discount_pct), 0) / 100;
  return (
    <section className={styles.plans} aria-labelledby="plans">
      <div className={styles.plansHead}>
        <h2 id="plans" className={styles.sectionTitle}>
          {t('plans')}
        </h2>
        <Segments
          label={t('archetype')}
          value={archetype}
          onChange={setArchetype}
          options={archetypes.map((value) => ({ value, label: t(value) }))}
        />
        <span className={styles.grow} />
        <Segments
          label={t('interval')}
          value={interval}
          onChange={setInterval}
          options={[
            { value: 'month', label: t('month') },
            { value: 'year', label: saves > 0 ? t('yearSaves', { percent: formatPercent(saves) }) : t('year') },
          ]}
        />
      </div>
      <ul className={styles.cards}>
        {shown.map((plan) => (
          <PlanCard
            key={plan.key}
            account={account}
            plan={plan}
            interval={interval}
            isWanted={plan.key === wanted && plan.key !== subscription.plan}
            onChoose={() => (plan.custom_pricing ? setAsking(plan) : onChoose({ plan, interval }))}
          />
        ))}
      </ul>
      {asking && <SalesDialog plan={asking} onClose={() => setAsking(null)} />}
    </section>
  );
}

function PlanCard({
  account,
  plan,
  interval,
  isWanted,
  onChoose,
}: {
  account: Account;
  plan: Plan;
  interval: Interval;
  isWanted: boolean;
  onChoose: () => void;
}) {
  const { catalog, subscription, isOwner } = account;
  const current = catalog.plans.find(({ key }) => key === subscription.plan);
  const isCurrent = plan.key === subscription.plan;
  const scheduled = subscription.scheduled_change;
  const isScheduled = scheduled?.plan === plan.key && scheduled.interval === interval && scheduled.effective_at !== null;
  const label = actionOf(account, plan, interval);
  return (
    <li className={cx(styles.plan, (isCurrent || isWanted) && styles.marked)}>
      <div className={styles.planHead}>
        <h3 className={styles.planTitle}>{plan.name}</h3>
        {isCurrent && <Badge tone="good">{t('isCurrent')}</Badge>}
        {isWanted && <Badge tone="busy">{t('recommended')}</Badge>}
        {isScheduled && <Badge tone="busy">{t('isScheduled', { date: formatDay(scheduled.effective_at ?? '') })}</Badge>}
      </div>
      <Price catalog={catalog} plan={plan} interval={interval} />
      {isOwner && (
        <div className={styles.choose}>
          {label === null || isScheduled ? null : (
            <Button kind={isWanted ? 'primary' : 'plain'} onClick={onChoose} className={styles.fill}>
              {label}
            </Button>
          )}
        </div>
      )}
      <FeatureList catalog={catalog} from={isCurrent ? undefined : current} to={plan} />
    </li>
  );
}

/** actionOf returns the label of the card's button; null where there is nothing to choose. */
function actionOf({ catalog, subscription }: Account, plan: Plan, interval: Interval): string | null {
  if (plan.custom_pricing) return plan.key === subscription.plan ? null : t('contactSales');
  if (!isSubscribed(subscription)) return t('startPlan', { plan: plan.name });
  if (plan.key === subscription.plan) {
    if (interval === subscription.interval) return null;
    return t(interval === 'year' ? 'payYearly' : 'payMonthly');
  }
  const isUp = rank(catalog, plan.key, interval) > rank(catalog, subscription.plan, subscription.interval);
  return t(isUp ? 'upgradeTo' : 'switchTo', { plan: plan.name });
}

/** Price is what a month costs, and what is billed. */
export function Price({ catalog, plan, interval }: { catalog: Account['catalog']; plan: Plan; interval: Interval }) {
  const month = monthly(plan, interval);
  const billed = plan.prices[interval];
  if (month === null || billed === null) {
    return (
      <div className={styles.price}>
        <span className={styles.figure}>{t('custom')}</span>
        <span className={styles.billed}>{t('customHelp')}</span>
      </div>
    );
  }
  return (
    <div className={styles.price}>
      <span>
        <span className={styles.figure}>{formatMoney(month, catalog.currency)}</span> {t('monthPrice')}
      </span>
      <span className={styles.billed}>
        {interval === 'year' ? t('billedYearly', { price: formatMoney(billed, catalog.currency) }) : t('billedMonthly')}
      </span>
    </div>
  );
}

/** SalesDialog is for plans whose price is agreed. */
function SalesDialog({ plan, onClose }: { plan: Plan; onClose: () => void }) {
  const { org } = useScope();
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('salesTitle', { plan: plan.name })}
      intro={t('salesText', { org: org.name })}
      foot={<Button onClick={onClose}>{t('close')}</Button>}
    >
      <p className={styles.idLine}>
        <code>{org.id}</code> <Copy text={org.id} label={t('salesCopy')} />
      </p>
    </Dialog>
  );
}
