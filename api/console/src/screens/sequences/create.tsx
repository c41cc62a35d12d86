import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { describe } from '@/lib/describe';
import { invalidate } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Combobox } from '@/ui/combobox';
import { Dialog } from '@/ui/dialog';
import { Callout } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import type { Option } from '@/ui/select';
import { useMailboxes } from '../mail/choices';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { t } from './messages';
import type { Sequence } from './steps';

const formId = 'new-sequence';

/** CreateSequence is the dialog that makes a sequence. Its steps are written afterwards. */
export function CreateSequence({ onClose, onCreated }: {
  onClose: () => void;
  onCreated: (sequence: Sequence) => void;
}) {
  const api = useApi();
  const scope = useScope();
  const isAdmin = useMay('admin');
  const mailboxes = useMailboxes();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<Option[] | null>(null);
  // A single mailbox needs no choice.
  const senders = chosen ?? (mailboxes.options.length === 1 ? mailboxes.options : []);
  const create = useSubmit(
    (body: { name: string; mailbox_ids: string[] }, idempotencyKey) =>
      api.post('/api/v1/sequences', { body, idempotencyKey }),
    ({ data }) => {
      invalidate(scope, '/api/v1/sequences');
      onClose();
      onCreated(data);
    },
  );
  const submit = () => void create.submit({ name: name.trim(), mailbox_ids: senders.map((one) => one.value) });
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('newSequence')}
      intro={t('createIntro')}
      keep={name !== ''}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" type="submit" form={formId} busy={create.busy}>
            {t('create')}
          </Button>
        </>
      }
    >
      <Form
        id={formId}
        label={t('newSequence')}
        problem={isPlanLimit(create.error) ? null : describe(create.error)}
        onSubmit={submit}
      >
        <PlanLimit error={create.error} />
        <Field label={t('name')} pointer="/name">
          <Input
            autoFocus
            maxLength={200}
            placeholder={t('namePlaceholder')}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
        {!mailboxes.pending && mailboxes.options.length === 0 ? (
          <Callout
            tone="warn"
            {...(isAdmin && { action: <Link to="/app/settings/mailboxes/new">{t('connectMailbox')}</Link> })}
          >
            {t('noMailbox')}
          </Callout>
        ) : (
          <Field label={t('mailboxes')} pointer="/mailbox_ids" help={t('mailboxesHelp')}>
            <Combobox
              label={t('mailboxes')}
              multiple
              options={mailboxes.options}
              value={[...senders]}
              onChange={setChosen}
            />
          </Field>
        )}
      </Form>
    </Dialog>
  );
}
