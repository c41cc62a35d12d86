import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { describe } from '@/lib/describe';
import { messages } from '@/lib/messages';
import { invalidate, useRead } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { JsonView } from '@/ui/code';
import { Combobox } from '@/ui/combobox';
import { Dialog } from '@/ui/dialog';
import { Skeleton } from '@/ui/feedback';
import { Field } from '@/ui/field';
import { Form } from '@/ui/form';
import { toast } from '@/ui/toast';
import type { EventTypeName } from './types';
import { t as shared } from './messages';
import { nameOf, type Webhook } from './words';

const t = messages({
  title: 'Send a test event',
  intro: 'A sample goes to {name} at once, signed as every delivery. It is sent once, also to a disabled webhook.',
  type: 'Event type',
  send: 'Send test event',
  cancel: 'Cancel',
  sample: 'Sample of {type}',
  sent: 'Test event sent',
});

/**
 * TestDialog sends a sample event of a chosen type and opens its delivery. With stay it offers the delivery in a toast
 * instead, for a page that shows what leaving it would lose.
 */
export function TestDialog({ hook, onClose, stay = false }: {
  hook: Pick<Webhook, 'id' | 'url' | 'events'>;
  onClose: () => void;
  stay?: boolean;
}) {
  const api = useApi();
  const scope = useScope();
  const navigate = useNavigate();
  const types = useRead('/api/v1/event-types');
  const all = useMemo(() => types.data?.data ?? [], [types.data]);
  const first = hook.events.find((type) => type !== '*') ?? 'contact.created';
  const [type, setType] = useState<EventTypeName>(first);
  const send = useSubmit(
    (body: { type: EventTypeName }, idempotencyKey) =>
      api.post('/api/v1/webhooks/{id}/test', { path: { id: hook.id }, body, idempotencyKey }),
    ({ data }) => {
      invalidate(scope, '/api/v1/webhook-deliveries');
      onClose();
      const to = { to: '/app/settings/integrations/webhooks/$id/deliveries/$d', params: { id: data.webhook_id, d: data.id } };
      if (stay) toast({ title: t('sent'), action: { label: shared('view'), onClick: () => void navigate(to) } });
      else void navigate(to);
    },
  );
  const chosen = all.find((one) => one.type === type);
  return (
    <Dialog
      open
      onClose={onClose}
      wide
      title={t('title')}
      intro={t('intro', { name: nameOf(hook.url) })}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" busy={send.busy} onClick={() => void send.submit({ type })}>
            {t('send')}
          </Button>
        </>
      }
    >
      <Form problem={describe(send.error)} onSubmit={() => void send.submit({ type })}>
        <Field label={t('type')} pointer="/type" help={chosen?.description}>
          <Combobox
            label={t('type')}
            options={all.map((one) => ({ value: one.type, label: one.type }))}
            value={[{ value: type, label: type }]}
            onChange={([next]) => next !== undefined && setType(next.value)}
          />
        </Field>
        {chosen === undefined ? (
          <Skeleton width="60%" />
        ) : (
          <JsonView key={type} title={t('sample', { type })} text={JSON.stringify(chosen.sample, null, 2)} />
        )}
      </Form>
    </Dialog>
  );
}
