import { Failure } from '@/app/failure';
import { SettingsPage } from '@/app/settingspage';
import type { Answer } from '@/lib/api';
import type { Result } from '@/lib/operations';
import { useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { Id } from '@/ui/copy';
import { Callout, Skeleton } from '@/ui/feedback';
import { Card, Facts } from '@/ui/page';
import { Time } from '@/ui/time';
import { t } from './messages';
import { NameCard } from './name';
import { StagesCard } from './stages';
import { ZoneCard } from './zone';

export type Org = Result<'get', '/api/v1/org'>;

/** Organization has the org's name and settings. */
export function Organization() {
  const org = useRead('/api/v1/org');
  const scope = useScope();
  const mayChange = useMay('admin');
  return (
    <SettingsPage title={t('title')}>
      {org.error !== null && org.answer === undefined ? (
        <Failure error={org.error} again={org.again} />
      ) : org.answer === undefined ? (
        <Card title={t('name')}>
          <Skeleton width="50%" />
        </Card>
      ) : mayChange ? (
        <Editable answer={org.answer} />
      ) : (
        <>
          <Callout>{t('readOnly', { org: scope.org.name, role: scope.role })}</Callout>
          <ReadOnly org={org.answer.data} />
        </>
      )}
    </SettingsPage>
  );
}

function Editable({ answer }: { answer: Answer<Org> }) {
  return (
    <>
      <NameCard answer={answer} />
      <ZoneCard answer={answer} />
      <StagesCard answer={answer} />
      <About org={answer.data} />
    </>
  );
}

/** stagesOf returns the stages of contacts, which the API always has among the settings. */
export function stagesOf(org: Org): string[] {
  const { stages } = org.settings;
  return Array.isArray(stages) ? stages.filter((stage) => typeof stage === 'string') : [];
}

export function zoneOf(org: Org): string | null {
  const zone = org.settings['time_zone'];
  return typeof zone === 'string' && zone !== '' ? zone : null;
}

function About({ org }: { org: Org }) {
  return (
    <Card>
      <Facts
        facts={[
          [t('id'), <Id key="id" id={org.id} />],
          [t('created'), <Time key="at" at={org.created_at} />],
        ]}
      />
    </Card>
  );
}

function ReadOnly({ org }: { org: Org }) {
  return (
    <Card>
      <Facts
        facts={[
          [t('name'), org.name],
          [t('zoneTitle'), zoneOf(org) ?? t('zoneNone')],
          [t('stagesTitle'), stagesOf(org).join(', ')],
          [t('id'), <Id key="id" id={org.id} />],
          [t('created'), <Time key="at" at={org.created_at} />],
        ]}
      />
    </Card>
  );
}
