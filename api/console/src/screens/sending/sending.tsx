import { Failure } from '@/app/failure';
import { SettingsPage } from '@/app/settingspage';
import type { Answer } from '@/lib/api';
import { useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { Callout, Skeleton } from '@/ui/feedback';
import { Card } from '@/ui/page';
import { DomainsCard } from './domains';
import { t } from './messages';
import { RulesCard, TrackingCard } from './rules';
import { TrackingDomainCard } from './trackingdomain';
import type { Settings } from './words';

/** Sending has what holds for the mail of all mailboxes, and the domains that it comes from. */
export function Sending() {
  const read = useRead('/api/v1/org/sending');
  if (read.error !== null && read.data === undefined) {
    return (
      <SettingsPage title={t('title')}>
        <Failure error={read.error} again={read.again} />
      </SettingsPage>
    );
  }
  if (read.answer === undefined) {
    return (
      <SettingsPage title={t('title')}>
        <Card title={t('rules')}>
          <Skeleton width="70%" />
        </Card>
        <Card title={t('domains')}>
          <Skeleton width="50%" />
        </Card>
      </SettingsPage>
    );
  }
  return <Loaded answer={read.answer} />;
}

function Loaded({ answer }: { answer: Answer<Settings> }) {
  const { org, role } = useScope();
  const isAdmin = useMay('admin');
  return (
    <SettingsPage title={t('title')}>
      {!isAdmin && <Callout>{t('admins', { org: org.name, role })}</Callout>}
      <RulesCard answer={answer} isAdmin={isAdmin} />
      <DomainsCard domains={answer.data.domains} isAdmin={isAdmin} />
      <TrackingCard answer={answer} isAdmin={isAdmin} />
      <TrackingDomainCard answer={answer} isAdmin={isAdmin} />
    </SettingsPage>
  );
}
