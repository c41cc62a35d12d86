import { useState } from 'react';
import { describe } from '@/lib/describe';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { toast } from '@/ui/toast';
import { t } from './messages';

/** CreatePipeline is the dialog that adds a pipeline, whose stages are then edited. */
export function CreatePipeline({ onClose, onCreated }: { onClose: () => void; onCreated: (id: string) => void }) {
  const api = useApi();
  const scope = useScope();
  const [name, setName] = useState('');
  const create = useSubmit(
    (given: string, idempotencyKey) => api.post('/api/v1/crm/pipelines', { body: { name: given }, idempotencyKey }),
    ({ data }) => {
      invalidate(scope, '/api/v1/crm/pipelines');
      toast({ title: t('created', { name: data.name }) });
      onClose();
      onCreated(data.id);
    },
  );
  return (
    <Dialog open onClose={onClose} title={t('newPipeline')} intro={t('createIntro')} keep={name !== ''}>
      <Form problem={describe(create.error)} onSubmit={() => void create.submit(name.trim())}>
        <Field label={t('name')} pointer="/name">
          <Input autoFocus autoComplete="off" maxLength={200} value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <div>
          <Button kind="primary" type="submit" busy={create.busy} disabled={name.trim() === ''}>
            {t('create')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
