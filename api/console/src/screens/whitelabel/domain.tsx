import { useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { SettingsPage } from '@/app/settingspage';
import { describe } from '@/lib/describe';
import { formatDay } from '@/lib/intl';
import type { Result } from '@/lib/operations';
import { isPlanNeeded } from '@/lib/planneeded';
import { isProblem } from '@/lib/problem';
import { invalidate, useRead } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Copy } from '@/ui/copy';
import { ConfirmDialog } from '@/ui/dialog';
import { Callout, EmptyState, Skeleton } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card, Facts } from '@/ui/page';
import { Status, type Tone } from '@/ui/status';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { t } from './messages';
import styles from './whitelabel.module.css';

type Domain = Result<'get', '/white-label/domain'>;

const tones: Record<Domain['status'], Tone> = {
  pending_dns: 'warn',
  verified: 'busy',
  active: 'good',
  degraded: 'bad',
  suspended: 'bad',
};
const texts: Record<Domain['status'], string> = {
  pending_dns: t('pendingText'),
  verified: t('verifiedText'),
  active: t('activeText'),
  degraded: t('degradedText'),
  suspended: t('suspendedText'),
};

/** DomainPage claims a domain and shows its DNS records and their state. */
export function DomainPage() {
  const read = useRead('/white-label/domain');
  const isNone = isProblem(read.error) && read.error.status === 404;
  return (
    <SettingsPage title={t('domain')}>
      {isNone ? (
        <Claim />
      ) : read.data !== undefined ? (
        <Claimed domain={read.data} />
      ) : read.error === null ? (
        <Card title={t('ownDomain')}>
          <Skeleton width="60%" />
        </Card>
      ) : (
        <Failure error={read.error} again={read.again} />
      )}
    </SettingsPage>
  );
}

function Claim() {
  const api = useApi();
  const scope = useScope();
  const [domain, setDomain] = useState('');
  const claim = useSubmit(
    (name: string, idempotencyKey) => api.put('/white-label/domain', { body: { domain: name }, idempotencyKey }),
    () => {
      invalidate(scope, '/white-label');
      toast({ title: t('claimed') });
    },
  );
  return (
    <>
      <EmptyState
        icon="external"
        title={t('ownDomain')}
        guide={{ label: t('domainGuide'), href: '/docs/guides/white-label#use-your-own-domain' }}
      >
        {t('domainText')}
      </EmptyState>
      <Card>
        <Form
          problem={isPlanNeeded(claim.error) ? null : describe(claim.error)}
          onSubmit={() => domain.trim() !== '' && void claim.submit(domain.trim())}
        >
          <Field label={t('domainName')} pointer="/domain" help={t('domainHelp')}>
            <Input
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              maxLength={300}
              placeholder="crm.example.com"
              value={domain}
              onChange={(event) => setDomain(event.target.value)}
            />
          </Field>
          <div>
            <Button kind="primary" type="submit" busy={claim.busy} disabled={domain.trim() === ''}>
              {t('claim')}
            </Button>
          </div>
        </Form>
      </Card>
    </>
  );
}

function Claimed({ domain }: { domain: Domain }) {
  const api = useApi();
  const scope = useScope();
  const [removing, setRemoving] = useState(false);
  const check = useSubmit(
    (_: null, idempotencyKey) => api.post('/white-label/domain/verify', { idempotencyKey }),
    () => {
      invalidate(scope, '/white-label/domain');
      toast({ title: t('checked') });
    },
  );
  const remove = useSubmit(
    (_: null) => api.delete('/white-label/domain'),
    () => {
      setRemoving(false);
      invalidate(scope, '/white-label');
      toast({ title: t('removed') });
    },
  );
  useCommands([
    { id: 'domain.check', label: t('check'), icon: 'refresh', keys: 'r', run: () => void check.submit(null) },
  ]);
  return (
    <>
      <Card
        title={domain.domain}
        actions={<Status tone={tones[domain.status]}>{t(domain.status)}</Status>}
        foot={
          <>
            <Button size="small" icon="trash" onClick={() => setRemoving(true)}>
              {t('removeDomain')}
            </Button>
            <Button kind="primary" size="small" icon="refresh" busy={check.busy} onClick={() => void check.submit(null)}>
              {t('check')}
            </Button>
          </>
        }
      >
        <div className={styles.fields}>
          <p>{texts[domain.status]}</p>
          {check.error !== null && !isPlanNeeded(check.error) && (
            <Callout tone="bad" title={t('checkFailed')}>
              {describe(check.error)?.detail}
            </Callout>
          )}
          {domain.last_error !== null && domain.status !== 'active' && (
            <Callout tone="warn" title={t('problem')}>
              {domain.last_error.detail}
            </Callout>
          )}
          <Facts
            facts={[
              ...(domain.checked_at === null
                ? []
                : [[t('lastCheck'), <Time key="checked" at={domain.checked_at} />] as const]),
              ...(domain.verified_at === null ? [] : [[t('found'), formatDay(domain.verified_at)] as const]),
            ]}
          />
          {domain.expires_at !== null && (
            <p className={styles.soft}>{t('expires', { date: formatDay(domain.expires_at) })}</p>
          )}
        </div>
      </Card>
      <Records domain={domain} />
      <ConfirmDialog
        open={removing}
        onClose={() => {
          setRemoving(false);
          remove.reset();
        }}
        title={t('removeTitle', { domain: domain.domain })}
        consequence={
          <>
            <p>{t('removeText')}</p>
            {remove.error !== null && <p role="alert">{describe(remove.error)?.detail}</p>}
          </>
        }
        action={t('removeDomain')}
        type={domain.domain}
        busy={remove.busy}
        onConfirm={() => void remove.submit(null)}
      />
    </>
  );
}

function Records({ domain }: { domain: Domain }) {
  return (
    <Card title={t('records')}>
      <div className={styles.fields}>
        {domain.records.map(({ type, name, value }) => (
          <dl key={`${type} ${name}`} className={styles.record}>
            <dt>{t('type')}</dt>
            <dd>{type}</dd>
            <dt>{t('host')}</dt>
            <dd>
              <code>{name}</code>
              <Copy text={name} label={t('copyName', { type })} />
            </dd>
            <dt>{t('value')}</dt>
            <dd>
              <code>{value}</code>
              <Copy text={value} label={t('copyValue', { type })} />
            </dd>
          </dl>
        ))}
        <p className="meta">{t('recordsText')}</p>
      </div>
    </Card>
  );
}
