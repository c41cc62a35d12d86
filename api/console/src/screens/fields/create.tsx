import { useState } from 'react';
import { describe } from '@/lib/describe';
import { invalidate, type Row } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Select } from '@/ui/select';
import { toast } from '@/ui/toast';
import { keyOf } from './key';
import { t } from './messages';

export type CustomField = Row<'/api/v1/crm/fields'>;
type Type = CustomField['type'];

export const types: readonly Type[] = ['string', 'number', 'boolean', 'date'];

/** CreateField is the dialog that adds a field. */
export function CreateField({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const [label, setLabel] = useState('');
  const [ownKey, setOwnKey] = useState<string | null>(null);
  const [type, setType] = useState<Type>('string');
  const key = ownKey ?? keyOf(label);
  const create = useSubmit(
    (body: { key: string; label: string; type: Type }, idempotencyKey) =>
      api.post('/api/v1/crm/fields', { body, idempotencyKey }),
    () => {
      invalidate(scope, '/api/v1/crm/fields', '/api/v1/crm/filter-fields');
      toast({ title: t('created') });
      onClose();
    },
  );
  const submit = () => void create.submit({ key, label: label.trim() || key, type });
  return (
    <Dialog open onClose={onClose} title={t('newField')} intro={t('createIntro', { org: scope.org.name })} keep={label !== ''}>
      <Form problem={describe(create.error)} onSubmit={submit}>
        <Field label={t('label')} pointer="/label" help={t('labelHelp')}>
          <Input autoFocus autoComplete="off" maxLength={200} value={label} onChange={(event) => setLabel(event.target.value)} />
        </Field>
        <Field label={t('key')} pointer="/key" help={t('keyHelp')}>
          <Input
            autoComplete="off"
            spellCheck={false}
            maxLength={64}
            value={key}
            onChange={(event) => setOwnKey(event.target.value)}
          />
        </Field>
        <Field label={t('type')} pointer="/type">
          <Select<Type>
            label={t('type')}
            options={types.map((value) => ({ value, label: t(value) }))}
            value={type}
            onChange={setType}
          />
        </Field>
        <div>
          <Button kind="primary" type="submit" busy={create.busy} disabled={key === ''}>
            {t('create')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
