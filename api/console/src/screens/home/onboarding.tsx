import { useMay } from '@/lib/scope';
import { Icon, type IconName } from '@/ui/icon';
import { GoLink } from '../record/golink';
import type { Overview } from './figures';
import { t } from './messages';
import styles from './home.module.css';

type Step = Overview['onboarding'][number];
type Place = { href: string; icon: IconName; role: 'member' | 'admin' | 'owner' };

const places = {
  create_contact: { href: '/app/contacts', icon: 'contacts', role: 'member' },
  invite_member: { href: '/app/settings/members', icon: 'user', role: 'admin' },
  create_api_key: { href: '/app/settings/integrations/keys', icon: 'key', role: 'admin' },
  create_webhook: { href: '/app/settings/integrations/webhooks/new', icon: 'webhook', role: 'admin' },
  see_delivery: { href: '/app/settings/integrations/webhooks', icon: 'events', role: 'admin' },
  connect_account: { href: '/app/accounts', icon: 'accounts', role: 'admin' },
  choose_plan: { href: '/app/settings/billing', icon: 'billing', role: 'owner' },
} satisfies Record<string, Place>;

type Key = keyof typeof places;

function isKnown(step: Step): step is Step & { key: Key } {
  return step.key in places;
}

/** Onboarding lists the first steps that the user may take, until all are done. */
export function Onboarding({ steps }: { steps: readonly Step[] }) {
  const allowed = { member: useMay('member'), admin: useMay('admin', 'members'), owner: useMay('owner', 'billing') };
  // The API may add steps that this version does not know.
  const own = steps.filter(isKnown).filter((step) => allowed[places[step.key].role]);
  const done = own.filter((step) => step.done).length;
  if (own.length === done) return null;
  const next = own.find((step) => !step.done);
  return (
    <section aria-label={t('onboarding')} className={styles.onboarding}>
      <div className={styles.headingLine}>
        <h2 className={styles.heading}>{t('onboarding')}</h2>
        <span className={styles.progress}>{t('progress', { done, total: own.length })}</span>
      </div>
      <ol className={styles.steps}>
        {own.map((step) => (
          <li key={step.key} className={styles.step} data-done={step.done || undefined} data-next={step === next || undefined}>
            <span className={styles.stepIcon}>
              <Icon name={step.done ? 'check' : places[step.key].icon} size={14} />
            </span>
            {step.done ? (
              <span className={styles.stepDone}>
                {t(step.key)} <span className="visually-hidden">({t('doneWord')})</span>
              </span>
            ) : (
              <GoLink href={places[step.key].href}>{t(step.key)}</GoLink>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}
