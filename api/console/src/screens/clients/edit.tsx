import { useState } from 'react';
import { Failure } from '@/app/failure';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { formatNumber } from '@/lib/intl';
import type { Options, Result } from '@/lib/operations';
import { invalidate, useRead } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Skeleton } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { toast } from '@/ui/toast';
import { featureName } from '../billing/messages';
import { limitsOf, readLimit } from './limits';
import { t } from './messages';
import styles from './clients.module.css';

type Detail = Result<'get', '/api/v1/orgs/clients/{id}'>;
type Change = Options<'patch', '/api/v1/orgs/clients/{id}'>['body'];

/** EditClient is the dialog that changes a client's name and limits. */
export function EditClient({ id, onClose }: { id: string; onClose: () => void }) {
  const client = useRead('/api/v1/orgs/clients/{id}', { path: { id } });
  const name = client.data?.name ?? '…';
  return (
    <Dialog open onClose={onClose} title={t('editTitle', { name })} intro={t('limitsIntro')}>
      {client.answer !== undefined ? (
        <Edit answer={client.answer} onClose={onClose} />
      ) : client.error === null ? (
        <Skeleton width="60%" />
      ) : (
        <Failure error={client.error} again={client.again} />
      )}
    </Dialog>
  );
}

function Edit({ answer, onClose }: { answer: Answer<Detail>; onClose: () => void }) {
  const client = answer.data;
  const api = useApi();
  const scope = useScope();
  const entitlements = useRead('/billing/my-entitlements');
  const limits = limitsOf(entitlements.data?.features ?? {});
  const [name, setName] = useState(client.name);
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const save = useSubmit(
    (body: Change, idempotencyKey) =>
      api.patch('/api/v1/orgs/clients/{id}', { path: { id: client.id }, body, ifMatch: answer.etag, idempotencyKey }),
    () => {
      invalidate(scope, '/api/v1/orgs/clients');
      toast({ title: t('saved') });
      onClose();
    },
  );
  const isBad = Object.values(typed).some((text) => readLimit(text) === undefined);
  const features = Object.fromEntries(Object.entries(typed).map(([key, text]) => [key, readLimit(text) ?? null]));
  const submit = () => {
    if (isBad || name.trim() === '') return;
    void save.submit({
      ...(name.trim() !== client.name && { name: name.trim() }),
      ...(Object.keys(features).length > 0 && { features }),
    });
  };
  const isChanged = name.trim() !== client.name || Object.keys(typed).length > 0;
  return (
    <Form problem={describe(save.error)} onSubmit={submit}>
      <Field label={t('name')} pointer="/name">
        <Input autoComplete="off" maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
      </Field>
      <fieldset className={styles.limits}>
        <legend>{t('limits')}</legend>
        {entitlements.pending && <Skeleton width="40%" />}
        {limits.map(({ key, own }) => {
          const stored = client.features[key];
          const text = typed[key] ?? (typeof stored === 'number' ? String(stored) : '');
          return (
            <Field
              key={key}
              label={featureName(key)}
              pointer={`/features/${key}`}
              help={t('own', { limit: own === null ? t('noLimit') : formatNumber(own) })}
              {...(readLimit(text) === undefined && { error: t('badLimit') })}
            >
              <Input
                inputMode="numeric"
                autoComplete="off"
                value={text}
                onChange={(event) => setTyped({ ...typed, [key]: event.target.value })}
              />
            </Field>
          );
        })}
      </fieldset>
      <div>
        <Button kind="primary" type="submit" busy={save.busy} disabled={!isChanged || isBad || name.trim() === ''}>
          {t('save')}
        </Button>
      </div>
    </Form>
  );
}
