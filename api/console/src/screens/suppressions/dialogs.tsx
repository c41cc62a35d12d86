import { useState } from 'react';
import { describe } from '@/lib/describe';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { RadioCards } from '@/ui/choice';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { toast } from '@/ui/toast';
import { t } from './messages';
import { targetOf } from './search';
import { nameOf, type Suppression } from './suppressions';

export type Purpose = Suppression['purpose'];

export const purposes = [
  { value: 'all', label: t('all'), help: t('allHelp') },
  { value: 'marketing', label: t('marketing'), help: t('marketingHelp') },
] as const;

const formId = 'new-suppression';

/** CreateDialog suppresses an address or a domain. */
export function CreateDialog({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const [fields, setFields] = useState<{ target: string; purpose: Purpose; note: string }>({
    target: '',
    purpose: 'all',
    note: '',
  });
  const create = useSubmit(
    (given: typeof fields, idempotencyKey) =>
      api.post('/api/v1/suppressions', {
        body: {
          ...targetOf(given.target),
          purpose: given.purpose,
          ...(given.note.trim() !== '' && { note: given.note.trim() }),
        },
        idempotencyKey,
      }),
    ({ data }) => {
      invalidate(scope, '/api/v1/suppressions');
      toast({ title: t('suppressed', { name: nameOf(data) }) });
      onClose();
    },
  );
  const submit = () => void create.submit(fields);
  const pointer = fields.target.includes('@') ? '/email' : '/domain';
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('create')}
      intro={t('createIntro')}
      keep={fields.target !== ''}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" type="submit" form={formId} busy={create.busy}>
            {t('suppress')}
          </Button>
        </>
      }
    >
      <Form id={formId} label={t('create')} problem={describe(create.error)} onSubmit={submit}>
        <Field label={t('address')} pointer={pointer} help={t('addressHelp')}>
          <Input
            autoFocus
            autoComplete="off"
            value={fields.target}
            onChange={(event) => setFields({ ...fields, target: event.target.value })}
          />
        </Field>
        <RadioCards
          label={t('purpose')}
          options={purposes}
          value={fields.purpose}
          onChange={(purpose) => setFields({ ...fields, purpose })}
        />
        <Field label={t('note')} pointer="/note" optional>
          <Input
            maxLength={500}
            value={fields.note}
            onChange={(event) => setFields({ ...fields, note: event.target.value })}
          />
        </Field>
      </Form>
    </Dialog>
  );
}

/** LiftDialog asks why a suppression is lifted. */
export function LiftDialog({ one, onClose }: { one: Suppression; onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const [reason, setReason] = useState('');
  const lift = useSubmit(
    (why: string) => api.delete('/api/v1/suppressions/{id}', { path: { id: one.id }, query: { reason: why } }),
    () => {
      invalidate(scope, '/api/v1/suppressions');
      toast({ title: t('lifted') });
      onClose();
    },
  );
  const submit = () => {
    if (reason.trim() !== '') void lift.submit(reason.trim());
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('liftTitle', { name: nameOf(one) })}
      intro={t('liftIntro')}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" busy={lift.busy} disabled={reason.trim() === ''} onClick={submit}>
            {t('lift')}
          </Button>
        </>
      }
    >
      <Form label={t('lift')} problem={describe(lift.error)} onSubmit={submit}>
        <Field label={t('liftReason')} pointer="/reason">
          <Input
            autoFocus
            maxLength={500}
            placeholder={t('liftPlaceholder')}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </Field>
      </Form>
    </Dialog>
  );
}
