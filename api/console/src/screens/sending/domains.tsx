import { useState } from 'react';
import { describe } from '@/lib/describe';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { ConfirmDialog, Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Menu } from '@/ui/menu';
import { Card } from '@/ui/page';
import { Status } from '@/ui/status';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { useAct } from '../mail/act';
import mail from '../mail/mail.module.css';
import { t } from './messages';
import { Records } from './records';
import { domainTones, type Domain } from './words';

const path = '/api/v1/org/sending';

/** DomainsCard has the domains that mail comes from, with the DNS records of each. */
export function DomainsCard({ domains, isAdmin }: { domains: readonly Domain[]; isAdmin: boolean }) {
  const [adding, setAdding] = useState(false);
  return (
    <>
      <Card
        title={t('domains')}
        {...(isAdmin && {
          actions: (
            <Button size="small" icon="plus" onClick={() => setAdding(true)}>
              {t('addDomain')}
            </Button>
          ),
        })}
      >
        <p className={mail.help}>{domains.length === 0 ? t('noDomains') : t('domainsHelp')}</p>
      </Card>
      {domains.map((one) => (
        <DomainCard key={one.domain} one={one} isAdmin={isAdmin} />
      ))}
      {adding && <AddDialog onClose={() => setAdding(false)} />}
    </>
  );
}

function DomainCard({ one, isAdmin }: { one: Domain; isAdmin: boolean }) {
  const api = useApi();
  const { busy, run } = useAct(path);
  const [removing, setRemoving] = useState(false);
  const { domain } = one;
  const verify = () =>
    void run(
      'verify',
      (idempotencyKey) =>
        api.post('/api/v1/org/sending/domains/{domain}/verify', { path: { domain }, idempotencyKey }),
      { title: t('lookedUp') },
    );
  const rotate = () =>
    void run(
      'rotate',
      (idempotencyKey) =>
        api.post('/api/v1/org/sending/domains/{domain}/rotate', { path: { domain }, idempotencyKey }),
      { title: t('rotated') },
    );
  return (
    <Card
      title={domain}
      actions={
        <span className={mail.buttons}>
          <Status tone={domainTones[one.status]}>{t(one.status)}</Status>
          {isAdmin && (
            <>
              <Button size="small" busy={busy === 'verify'} onClick={verify}>
                {t('verify')}
              </Button>
              <Menu
                align="end"
                trigger={
                  <Button size="small" after="down">
                    {t('actions')}
                  </Button>
                }
                items={[
                  { label: t('rotate'), icon: 'key', onSelect: rotate },
                  null,
                  { label: t('remove'), icon: 'trash', danger: true, onSelect: () => setRemoving(true) },
                ]}
              />
            </>
          )}
        </span>
      }
    >
      <div className={mail.stack}>
        <Records records={one.records} />
        <p className="meta">
          {t('checked')}: {one.checked_at === null ? t('never') : <Time at={one.checked_at} />}
        </p>
      </div>
      <ConfirmDialog
        open={removing}
        onClose={() => setRemoving(false)}
        title={t('removeTitle', { name: domain })}
        consequence={t('removeText')}
        action={t('remove')}
        busy={busy === 'remove'}
        onConfirm={() =>
          void run('remove', () => api.delete('/api/v1/org/sending/domains/{domain}', { path: { domain } }), {
            title: t('removed'),
          }).then(() => setRemoving(false))
        }
      />
    </Card>
  );
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const [domain, setDomain] = useState('');
  const add = useSubmit(
    (body: { domain: string }, idempotencyKey) => api.post('/api/v1/org/sending/domains', { body, idempotencyKey }),
    () => {
      invalidate(scope, path);
      toast({ title: t('added') });
      onClose();
    },
  );
  const submit = () => void add.submit({ domain: domain.trim() });
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('addTitle')}
      intro={t('domainsHelp')}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" busy={add.busy} onClick={submit}>
            {t('addDomain')}
          </Button>
        </>
      }
    >
      <Form label={t('addTitle')} problem={describe(add.error)} onSubmit={submit}>
        <Field label={t('domain')} pointer="/domain">
          <Input
            autoFocus
            mono
            autoComplete="off"
            placeholder={t('domainPlaceholder')}
            value={domain}
            onChange={(event) => setDomain(event.target.value)}
          />
        </Field>
      </Form>
    </Dialog>
  );
}
