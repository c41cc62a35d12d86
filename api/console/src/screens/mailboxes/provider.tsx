import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { describe } from '@/lib/describe';
import type { Result } from '@/lib/operations';
import { isProblem } from '@/lib/problem';
import { invalidate, readOptions } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Copy } from '@/ui/copy';
import { ConfirmDialog } from '@/ui/dialog';
import { Skeleton } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card, Facts } from '@/ui/page';
import { Select } from '@/ui/select';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { useAct } from '../mail/act';
import styles from '../mail/mail.module.css';
import { t } from './messages';
import type { Mailbox } from './words';

type Source = Result<'get', '/api/v1/mailboxes/{id}/provider'>;
type Provider = Source['provider'];

const path = '/api/v1/mailboxes/{id}/provider';
const options: readonly { value: Provider; label: string }[] = [
  { value: 'ses', label: t('ses') },
  { value: 'postmark', label: t('postmark') },
  { value: 'mailgun', label: t('mailgun') },
  { value: 'sendgrid', label: t('sendgrid') },
];

/** ProviderCard has the provider that relays a mailbox's mail and posts what became of it: deliveries and bounces. */
export function ProviderCard({ one, isAdmin }: { one: Mailbox; isAdmin: boolean }) {
  const read = useQuery({ ...readOptions(useApi(), path, { path: { id: one.id } }), retry: false });
  const [changing, setChanging] = useState(false);
  const isNone = isProblem(read.error) && read.error.status === 404;
  const source = isNone ? undefined : read.data?.data;
  if (read.error !== null && !isNone) return null; // the mailbox is read from the same place, and says why
  return (
    <Card
      title={t('provider')}
      {...(isAdmin &&
        source !== undefined &&
        !changing && { actions: <Actions one={one} source={source} onChange={() => setChanging(true)} /> })}
    >
      <div className={styles.stack}>
        {source === undefined && !isNone ? <Skeleton width="60%" /> : <p className={styles.help}>{t('providerText')}</p>}
        {source !== undefined && <SourceFacts source={source} />}
        {isAdmin && (isNone || changing) && (
          <ProviderForm one={one} source={source} onClose={changing ? () => setChanging(false) : undefined} />
        )}
      </div>
    </Card>
  );
}

function SourceFacts({ source }: { source: Source }) {
  return (
    <>
      <Facts
        facts={[
          [t('provider'), t(source.provider)],
          [t('lastEvent'), source.last_event_at === null ? t('never') : <Time at={source.last_event_at} />],
          [
            t('eventsPath'),
            <span key="path" className={styles.code}>
              {source.events_path}
              <Copy text={source.events_path} label={t('copyPath')} />
            </span>,
          ],
        ]}
      />
      <p className={styles.help}>{t('eventsHelp', { provider: t(source.provider) })}</p>
    </>
  );
}

function Actions({ one, source, onChange }: { one: Mailbox; source: Source; onChange: () => void }) {
  const api = useApi();
  const [removing, setRemoving] = useState(false);
  const { busy, run } = useAct('/api/v1/mailboxes');
  const remove = () =>
    void run('remove', () => api.delete(path, { path: { id: one.id } }), { title: t('providerRemoved') }).then(() =>
      setRemoving(false),
    );
  return (
    <span className={styles.buttons}>
      <Button size="small" kind="quiet" onClick={() => setRemoving(true)}>
        {t('removeProvider')}
      </Button>
      <Button size="small" onClick={onChange}>
        {t('changeProvider')}
      </Button>
      <ConfirmDialog
        open={removing}
        onClose={() => setRemoving(false)}
        title={t('removeProviderTitle', { provider: t(source.provider) })}
        consequence={t('removeProviderText')}
        action={t('removeProvider')}
        busy={busy === 'remove'}
        onConfirm={remove}
      />
    </span>
  );
}

function ProviderForm({ one, source, onClose }: {
  one: Mailbox;
  source: Source | undefined;
  onClose: (() => void) | undefined;
}) {
  const api = useApi();
  const scope = useScope();
  const [provider, setProvider] = useState<Provider>(source?.provider ?? 'postmark');
  const [key, setKey] = useState('');
  const save = useSubmit(
    (body: { provider: Provider; key: string }, idempotencyKey) =>
      api.put(path, { path: { id: one.id }, body, idempotencyKey }),
    () => {
      setKey('');
      invalidate(scope, '/api/v1/mailboxes');
      toast({ title: t('providerSet') });
      onClose?.();
    },
  );
  return (
    <Form
      label={t('provider')}
      problem={describe(save.error)}
      onSubmit={() => void save.submit({ provider, key: key.trim() })}
    >
      <Field label={t('provider')} pointer="/provider">
        <Select label={t('provider')} options={options} value={provider} onChange={setProvider} />
      </Field>
      <Field label={t(`${provider}Key`)} pointer="/key" help={t('keyHelp')}>
        <Input
          mono
          type="password"
          autoComplete="off"
          maxLength={500}
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
      </Field>
      <div className={styles.buttons}>
        <Button kind="primary" size="small" type="submit" busy={save.busy} disabled={key.trim() === ''}>
          {t('setProvider')}
        </Button>
        {onClose && (
          <Button size="small" onClick={onClose}>
            {t('cancel')}
          </Button>
        )}
      </div>
    </Form>
  );
}
