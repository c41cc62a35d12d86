import { useState } from 'react';
import { describe } from '@/lib/describe';
import { isProblem } from '@/lib/problem';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Callout } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { toast } from '@/ui/toast';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { t } from './messages';

const empty = { name: '', domain: '', industry: '', website: '' };

/** CreateCompany is the dialog that adds a company. What was typed stays until it is created. */
export function CreateCompany({ onClose, onOpen }: { onClose: () => void; onOpen: (id: string) => void }) {
  const api = useApi();
  const scope = useScope();
  const [fields, setFields] = useState(empty);
  const create = useSubmit(
    (given: typeof empty, idempotencyKey) => {
      const { domain, industry, website } = given;
      return api.post('/api/v1/crm/companies', {
        idempotencyKey,
        body: {
          name: given.name.trim(),
          ...(domain.trim() !== '' && { domain: domain.trim() }),
          ...(industry.trim() !== '' && { industry: industry.trim() }),
          ...(website.trim() !== '' && { website: website.trim() }),
        },
      });
    },
    ({ data }) => {
      invalidate(scope, '/api/v1/crm/companies');
      toast({ title: t('createdToast', { name: data.name }) });
      onClose();
      onOpen(data.id);
    },
  );
  const existing = isProblem(create.error) && create.error.status === 409 ? create.error.problem['existing_id'] : null;
  const input = (name: keyof typeof empty) => ({
    value: fields[name],
    onChange: (event: { target: { value: string } }) => setFields({ ...fields, [name]: event.target.value }),
  });
  return (
    <Dialog open onClose={onClose} title={t('createTitle')} keep={Object.values(fields).some((value) => value !== '')}>
      <Form
        problem={isPlanLimit(create.error) || typeof existing === 'string' ? null : describe(create.error)}
        onSubmit={() => void create.submit(fields)}
      >
        <PlanLimit error={create.error} />
        {typeof existing === 'string' && (
          <Callout
            tone="warn"
            title={t('exists')}
            action={
              <Button
                size="small"
                onClick={() => {
                  onClose();
                  onOpen(existing);
                }}
              >
                {t('openExisting')}
              </Button>
            }
          />
        )}
        <Field label={t('name')} pointer="/name">
          <Input autoComplete="off" autoFocus {...input('name')} />
        </Field>
        <Field label={t('domain')} pointer="/domain" optional>
          <Input autoComplete="off" placeholder="example.com" {...input('domain')} />
        </Field>
        <Field label={t('industry')} pointer="/industry" optional>
          <Input autoComplete="off" {...input('industry')} />
        </Field>
        <Field label={t('website')} pointer="/website" optional>
          <Input type="url" autoComplete="off" placeholder="https://example.com" {...input('website')} />
        </Field>
        <div>
          <Button kind="primary" type="submit" busy={create.busy}>
            {t('createAction')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
