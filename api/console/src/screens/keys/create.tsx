import { useState } from 'react';
import { useWaitAfter } from '@/app/failure';
import { describe } from '@/lib/describe';
import type { Result } from '@/lib/operations';
import { invalidate } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { RadioCards } from '@/ui/choice';
import { Code } from '@/ui/code';
import { Secret } from '@/ui/copy';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { t } from './messages';
import styles from './keys.module.css';

type Created = Result<'post', '/api/v1/api-keys'>;
type KeyRole = Created['role'];

/** CreateDialog creates a key and shows it once: it is gone when the dialog closes. */
export function CreateDialog({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const isOwner = useMay('owner', 'keys');
  const [name, setName] = useState('');
  const [role, setRole] = useState<KeyRole>('member');
  const [created, setCreated] = useState<Created | null>(null);
  const create = useSubmit(
    (body: { name: string; role: KeyRole }, idempotencyKey) => api.post('/api/v1/api-keys', { body, idempotencyKey }),
    ({ data }) => {
      setCreated(data);
      invalidate(scope, '/api/v1/api-keys');
    },
  );
  const wait = useWaitAfter(create.error);
  const submit = () => wait === 0 && void create.submit({ name, role });
  if (created !== null) {
    return (
      <Dialog
        open
        keep
        onClose={onClose}
        title={t('copyTitle')}
        intro={t('once')}
        foot={
          <Button kind="primary" onClick={onClose}>
            {t('done')}
          </Button>
        }
      >
        <div className={styles.stack}>
          <Secret label={t('key')} value={created.key} />
          <Code
            title={t('tryIt')}
            text={`curl ${window.location.origin}/api/v1/crm/contacts?limit=1 \\\n  -H "Authorization: Bearer $FUNNELWORK_KEY"`}
          />
        </div>
      </Dialog>
    );
  }
  const roles: readonly KeyRole[] = isOwner ? ['viewer', 'member', 'admin', 'owner'] : ['viewer', 'member', 'admin'];
  const help = { viewer: t('viewerHelp'), member: t('memberHelp'), admin: t('adminHelp'), owner: t('ownerHelp') };
  return (
    <Dialog
      open
      onClose={onClose}
      keep={name !== ''}
      title={t('createTitle')}
      intro={t('intro', { org: scope.org.name })}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" busy={create.busy} disabled={wait > 0} onClick={submit}>
            {t('create')}
          </Button>
        </>
      }
    >
      <Form problem={describe(create.error)} onSubmit={submit}>
        <Field label={t('name')} pointer="/name" help={t('nameHelp')}>
          <Input autoFocus maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <RadioCards<KeyRole>
          label={t('role')}
          value={role}
          onChange={setRole}
          options={roles.map((one) => ({ value: one, label: t(one), help: help[one] }))}
        />
      </Form>
    </Dialog>
  );
}
