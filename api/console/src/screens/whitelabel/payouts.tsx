import { useState } from 'react';
import { Failure } from '@/app/failure';
import { SettingsPage } from '@/app/settingspage';
import { formatDay } from '@/lib/intl';
import type { Result } from '@/lib/operations';
import { isPlanNeeded, showPlanNeeded } from '@/lib/planneeded';
import { randomId } from '@/lib/random';
import { useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button } from '@/ui/button';
import { Callout, Skeleton } from '@/ui/feedback';
import { Card, Facts } from '@/ui/page';
import { Status, type Tone } from '@/ui/status';
import { report } from '../record/report';
import { Fees } from './fees';
import { t } from './messages';
import styles from './whitelabel.module.css';

type State = Result<'get', '/white-label/connect'>;

const tones: Record<State['status'], Tone> = {
  not_started: 'off',
  onboarding: 'warn',
  pending_review: 'busy',
  restricted: 'bad',
  enabled: 'good',
  disconnected: 'bad',
};

/** Payouts shows the reseller's payment account and the fees of what clients paid. */
export function Payouts() {
  const read = useRead('/white-label/connect');
  const isOwner = useMay('owner', 'billing');
  return (
    <SettingsPage title={t('payouts')} wide>
      {read.data !== undefined ? (
        <>
          <Account state={read.data} />
          {isOwner ? <Fees /> : <p className={styles.soft}>{t('feesOwner')}</p>}
        </>
      ) : read.error === null ? (
        <Card title={t('account')}>
          <Skeleton width="60%" />
        </Card>
      ) : (
        <Failure error={read.error} again={read.again} />
      )}
    </SettingsPage>
  );
}

function Account({ state }: { state: State }) {
  const { org, role } = useScope();
  const isOwner = useMay('owner', 'billing');
  const { requirements } = state;
  const yes = (is: boolean) => (is ? t('yes') : t('no'));
  return (
    <Card
      title={t('account')}
      actions={<Status tone={tones[state.status]}>{t(state.status)}</Status>}
      foot={isOwner ? <Onboard status={state.status} /> : <span className="meta">{t('owners', { org: org.name, role })}</span>}
    >
      <div className={styles.fields}>
        <p className={styles.soft}>{t('accountText')}</p>
        <p>
          <a href="/docs/guides/white-label">{t('payoutsGuide')}</a>
        </p>
        <Needs title={t('overdue')} tone="bad" needs={requirements.past_due} />
        <Needs
          title={t('due')}
          tone="warn"
          needs={requirements.currently_due.filter((one) => !requirements.past_due.includes(one))}
          deadline={requirements.deadline_at}
        />
        <Needs title={t('reviewing')} tone="busy" needs={requirements.pending_verification} />
        <Facts
          facts={[
            [t('charges'), yes(state.charges_enabled)],
            [t('payoutsOn'), yes(state.payouts_enabled)],
            [t('share'), t('shareOf', { percent: state.application_fee_percent })],
            ...(state.account_id === null ? [] : [[t('accountId'), <code key="id">{state.account_id}</code>] as const]),
            ...(state.status_since_at === null ? [] : [[t('since'), formatDay(state.status_since_at)] as const]),
          ]}
        />
      </div>
    </Card>
  );
}

function Needs({ title, tone, needs, deadline = null }: {
  title: string;
  tone: Tone;
  needs: readonly string[];
  deadline?: string | null;
}) {
  if (needs.length === 0) return null;
  return (
    <Callout tone={tone} title={title}>
      <ul>
        {needs.map((one) => (
          <li key={one}>{one.replaceAll(/[._]/g, ' ')}</li>
        ))}
      </ul>
      {deadline !== null && t('deadline', { date: formatDay(deadline) })}
    </Callout>
  );
}

/** Onboard opens the payment processor's page: a link is for one visit, so each click asks for a new one. */
function Onboard({ status }: { status: State['status'] }) {
  const api = useApi();
  const [busy, setBusy] = useState(false);
  const open = async () => {
    setBusy(true);
    try {
      const { data } = await api.post('/white-label/connect/onboarding', { idempotencyKey: randomId() });
      window.location.assign(data.url);
    } catch (error) {
      if (isPlanNeeded(error)) showPlanNeeded(error);
      else report(t('notOpened'), error);
      setBusy(false);
    }
  };
  const word = status === 'not_started' ? t('start') : status === 'enabled' ? t('update') : t('goOn');
  return (
    <Button kind={status === 'enabled' ? 'plain' : 'primary'} size="small" busy={busy} onClick={() => void open()}>
      {word}
    </Button>
  );
}
