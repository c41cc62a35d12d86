import { useState } from 'react';
import { Failure } from '@/app/failure';
import { SettingsPage } from '@/app/settingspage';
import { useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { Callout, Skeleton } from '@/ui/feedback';
import { Card } from '@/ui/page';
import { ChangeDialog, type Wish } from './change';
import { Current } from './current';
import { Invoices } from './invoices';
import { t } from './messages';
import { Notices } from './notices';
import { Plans } from './plancards';
import type { Catalog, Entitlements, Subscription } from './plans';
import { Usage } from './usage';

/** What the parts of the page share. */
export interface Account {
  catalog: Catalog;
  entitlements: Entitlements;
  subscription: Subscription;
  /** The user may change the plan. */
  isOwner: boolean;
}

/** Billing shows the plan, what is used of it, the plans to choose from, and the invoices. */
export function Billing() {
  const catalog = useRead('/billing/plans-with-features');
  const entitlements = useRead('/billing/my-entitlements');
  const subscription = useRead('/billing/subscription');
  const isOwner = useMay('owner', 'billing');
  const failed = [catalog, entitlements, subscription].find((one) => one.error !== null && one.data === undefined);
  if (failed) {
    return (
      <SettingsPage title={t('title')} wide>
        <Failure error={failed.error} again={failed.again} />
      </SettingsPage>
    );
  }
  if (catalog.data === undefined || entitlements.data === undefined || subscription.data === undefined) {
    return (
      <SettingsPage title={t('title')} wide>
        <Card title={t('current')}>
          <Skeleton width="40%" />
        </Card>
        <Card title={t('usage')}>
          <Skeleton width="70%" />
        </Card>
      </SettingsPage>
    );
  }
  const account = { catalog: catalog.data, entitlements: entitlements.data, subscription: subscription.data, isOwner };
  return <Loaded account={account} />;
}

function Loaded({ account }: { account: Account }) {
  const { org, role } = useScope();
  const [wish, setWish] = useState<Wish | null>(null);
  return (
    <SettingsPage title={t('title')} wide>
      {!account.isOwner && <Callout>{t('onlyOwner', { org: org.name, role })}</Callout>}
      <Notices account={account} />
      <Current account={account} />
      <Usage account={account} />
      <Plans account={account} onChoose={setWish} />
      {account.isOwner && <Invoices />}
      {wish && <ChangeDialog account={account} wish={wish} onClose={() => setWish(null)} />}
    </SettingsPage>
  );
}
