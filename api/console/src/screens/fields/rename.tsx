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
import type { CustomField } from './create';
import { t } from './messages';

/** RenameField is the dialog that changes the name of a field; its key and type stay. */
export function RenameField({ field, onClose }: { field: CustomField; onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const [label, setLabel] = useState(field.label);
  const save = useSubmit(
    (name: string, idempotencyKey) =>
      api.patch('/api/v1/crm/fields/{key}', { path: { key: field.key }, body: { label: name }, idempotencyKey }),
    () => {
      invalidate(scope, '/api/v1/crm/fields', '/api/v1/crm/filter-fields');
      toast({ title: t('renamed') });
      onClose();
    },
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('renameTitle', { name: field.label })}
      intro={t('renameIntro', { key: field.key })}
      keep={label !== field.label}
    >
      <Form problem={describe(save.error)} onSubmit={() => void save.submit(label.trim())}>
        <Field label={t('label')} pointer="/label">
          <Input autoFocus autoComplete="off" maxLength={200} value={label} onChange={(event) => setLabel(event.target.value)} />
        </Field>
        <div>
          <Button kind="primary" type="submit" busy={save.busy} disabled={label.trim() === '' || label === field.label}>
            {t('save')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
