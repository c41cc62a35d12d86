import { formatNumber } from '@/lib/intl';
import type { Result } from '@/lib/operations';
import { featureName, t } from './messages';

export type Catalog = Result<'get', '/billing/plans-with-features'>;
export type Plan = Catalog['plans'][number];
export type Interval = 'month' | 'year';
export type Archetype = Plan['billing_archetype'];
export type Subscription = Result<'get', '/billing/subscription'>;
export type PlanChange = NonNullable<Subscription['scheduled_change']>;
export type Entitlements = Result<'get', '/billing/my-entitlements'>;

/** The archetypes, in the order in which their plans are listed. */
export const archetypes: readonly Archetype[] = ['solo_smb', 'agency', 'white_label'];

/** Difference is what one feature of a plan is, beside the same feature of the plan that the org has. */
export interface Difference {
  key: string;
  /** more and less are relative to the current plan; same if there is none. */
  kind: 'more' | 'less' | 'same';
  /** "25,000 contacts". */
  text: string;
  /** What the current plan has instead; absent if the same. */
  instead?: string;
}

/** amount returns the limit of a value of the catalog; null is no limit. */
function amount(value: unknown): number {
  return typeof value === 'number' ? value : Number.POSITIVE_INFINITY;
}

/** within returns a feature's name as it is within a sentence. */
function within(name: string): string {
  return /^[A-Z]{2}/.test(name) ? name : name.charAt(0).toLowerCase() + name.slice(1);
}

function limitText(value: unknown, key: string): string {
  return typeof value === 'number'
    ? t('limit', { amount: value, name: within(featureName(key, value)) })
    : t('unlimited', { name: within(featureName(key)) });
}

function shortLimit(value: unknown): string {
  return typeof value === 'number' ? formatNumber(value) : t('noLimit');
}

/** differences returns to's features in the catalog's order, each beside from's. Limits of 0 in both are left out. */
export function differences(catalog: Catalog, from: Plan | undefined, to: Plan): Difference[] {
  const rows: Difference[] = [];
  const kindOf = (sign: number): Difference['kind'] =>
    from === undefined || sign === 0 ? 'same' : sign > 0 ? 'more' : 'less';
  const limit = (key: string, old: unknown, now: unknown) => {
    const sign = Math.sign(from === undefined ? 0 : compare(amount(now), amount(old)));
    if (amount(now) === 0 && (from === undefined || sign === 0)) return;
    rows.push({
      key,
      kind: kindOf(sign),
      text: amount(now) === 0 ? t('without', { name: within(featureName(key)) }) : limitText(now, key),
      ...(from !== undefined && sign !== 0 && { instead: shortLimit(old) }),
    });
  };
  for (const { key, type } of catalog.features) {
    const old = from?.values[key];
    const now = to.values[key];
    if (type === 'limit') limit(key, old, now);
    else if (type === 'boolean') {
      if (now !== true && old !== true) continue;
      const sign = from === undefined ? 0 : Number(now === true) - Number(old === true);
      const text = now === true ? featureName(key) : t('without', { name: within(featureName(key)) });
      rows.push({ key, kind: kindOf(sign), text });
    } else if (typeof now === 'string') {
      const other = typeof old === 'string' && old !== now ? { instead: old } : {};
      rows.push({ key, kind: 'same', text: t('textFeature', { name: featureName(key), value: now }), ...other });
    }
  }
  return rows;
}

function compare(a: number, b: number): number {
  return a === b ? 0 : a > b ? 1 : -1;
}

/** rank orders plans as the service does: by the catalog, and within a plan the year above the month. */
export function rank(catalog: Catalog, plan: string, interval: Interval | null): number {
  return 2 * catalog.plans.findIndex((p) => p.key === plan) + (interval === 'year' ? 1 : 0);
}

/** isSubscribed reports whether there is a subscription that a change would change. The trial has none. */
export function isSubscribed(subscription: Subscription): boolean {
  return (
    subscription.interval !== null &&
    ['active', 'trialing', 'past_due', 'unpaid', 'paused'].includes(subscription.status)
  );
}

/** timing returns when a change to plan takes effect unless the person says otherwise. */
export function timing(catalog: Catalog, subscription: Subscription, plan: string, interval: Interval) {
  if (!isSubscribed(subscription)) return 'start';
  const isUp = rank(catalog, plan, interval) > rank(catalog, subscription.plan, subscription.interval);
  return isUp ? 'now' : 'period_end';
}

/** monthly returns what a month of plan costs when it is paid by interval, in minor units; null if it is agreed. */
export function monthly(plan: Plan, interval: Interval): number | null {
  const price = plan.prices[interval];
  return price === null ? null : interval === 'year' ? Math.round(price / 12) : price;
}

/** meters returns the limits of which something may be used, in the catalog's order. */
export function meters(catalog: Catalog, entitlements: Entitlements) {
  const order = catalog.features.map(({ key }) => key);
  return Object.entries(entitlements.features)
    .filter(([, feature]) => feature.type === 'limit' && feature.used !== undefined)
    .map(([key, feature]) => {
      const used = feature.used ?? 0;
      const max = typeof feature.value === 'number' ? feature.value : undefined;
      const share = max === undefined ? 0 : max === 0 ? (used > 0 ? 1 : 0) : used / max;
      const tone = share >= 1 && used > 0 ? ('bad' as const) : share >= 0.8 ? ('warn' as const) : undefined;
      return { key, used, max, tone, resetsAt: feature.resets_at };
    })
    .filter(({ max, used }) => max !== 0 || used > 0)
    .sort((a, b) => order.indexOf(a.key) - order.indexOf(b.key));
}
