import { useState } from 'react';
import { describe } from '@/lib/describe';
import type { Result } from '@/lib/operations';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Secret } from '@/ui/copy';
import { Dialog } from '@/ui/dialog';
import { Callout } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { toast } from '@/ui/toast';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { t } from './messages';
import styles from './clients.module.css';

type Created = Result<'post', '/api/v1/orgs/clients'>;

/** CreateClient is the dialog that makes a client org and invites its owner. */
export function CreateClient({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [created, setCreated] = useState<Created | null>(null);
  const create = useSubmit(
    (body: { name: string; owner_email?: string }, idempotencyKey) =>
      api.post('/api/v1/orgs/clients', { body, idempotencyKey }),
    ({ data }) => {
      invalidate(scope, '/api/v1/orgs/clients', '/billing/my-entitlements');
      if (data.accept_url !== undefined || data.mail === 'withheld') return setCreated(data);
      toast({ title: t('created') });
      onClose();
    },
  );
  if (created !== null) return <CreatedClient created={created} onClose={onClose} />;
  const submit = () =>
    name.trim() !== '' &&
    void create.submit({ name: name.trim(), ...(email.trim() !== '' && { owner_email: email.trim() }) });
  return (
    <Dialog open keep={name !== ''} onClose={onClose} title={t('create')} intro={t('createIntro')}>
      <Form problem={isPlanLimit(create.error) ? null : describe(create.error)} onSubmit={submit}>
        <PlanLimit error={create.error} />
        <Field label={t('name')} pointer="/name">
          <Input autoFocus autoComplete="off" maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <Field label={t('email')} pointer="/owner_email" help={t('emailHelp')} optional>
          <Input type="email" autoComplete="off" value={email} onChange={(event) => setEmail(event.target.value)} />
        </Field>
        <div>
          <Button kind="primary" type="submit" busy={create.busy} disabled={name.trim() === ''}>
            {t('createClient')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

/** The invitation's link is shown once, where no mail was sent. */
function CreatedClient({ created, onClose }: { created: Created; onClose: () => void }) {
  return (
    <Dialog
      open
      keep
      onClose={onClose}
      title={t('linkTitle', { name: created.name })}
      foot={
        <Button kind="primary" onClick={onClose}>
          {t('done')}
        </Button>
      }
    >
      <div className={styles.stack}>
        {created.accept_url === undefined ? (
          <Callout tone="warn">{t('withheld')}</Callout>
        ) : (
          <>
            <Callout tone="warn">{t('linkText')}</Callout>
            <Secret label={t('link')} value={created.accept_url} />
          </>
        )}
      </div>
    </Dialog>
  );
}
