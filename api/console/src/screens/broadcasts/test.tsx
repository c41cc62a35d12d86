import { useState } from 'react';
import { describe } from '@/lib/describe';
import { useApi, useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { toast } from '@/ui/toast';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { t } from './messages';
import { addressesOf, type Broadcast } from './words';

/** TestDialog sends a broadcast to its authors. */
export function TestDialog({ one, onClose }: { one: Broadcast; onClose: () => void }) {
  const api = useApi();
  const own = useStore(useServices().session.state).grant?.user.email ?? '';
  const [to, setTo] = useState(own);
  const send = useSubmit(
    (addresses: string[], idempotencyKey) =>
      api.post('/api/v1/broadcasts/{id}/test', { path: { id: one.id }, body: { to: addresses }, idempotencyKey }),
    ({ data }) => {
      toast({ title: t('testSent', { count: data.email_ids.length }) });
      onClose();
    },
  );
  const submit = () => void send.submit(addressesOf(to));
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('testTitle')}
      intro={t('testIntro')}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" busy={send.busy} onClick={submit}>
            {t('test')}
          </Button>
        </>
      }
    >
      <Form label={t('testTitle')} problem={isPlanLimit(send.error) ? null : describe(send.error)} onSubmit={submit}>
        <PlanLimit error={send.error} />
        <Field label={t('testTo')} pointer="/to" help={t('testHelp')}>
          <Input autoFocus value={to} onChange={(event) => setTo(event.target.value)} />
        </Field>
      </Form>
    </Dialog>
  );
}
