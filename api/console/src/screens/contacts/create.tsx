import { useState } from 'react';
import { describe } from '@/lib/describe';
import { isProblem } from '@/lib/problem';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Combobox } from '@/ui/combobox';
import { Dialog } from '@/ui/dialog';
import { Callout } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Select, type Option } from '@/ui/select';
import { toast } from '@/ui/toast';
import { CompanyChoice } from '../record/companychoice';
import { useStages, useTags } from '../record/directory';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { nameOf, type Contact } from '../record/types';
import { t } from './messages';
import styles from './contacts.module.css';

/** CreateContact is the dialog that adds a contact. What was typed stays until it is created. */
export function CreateContact({ onClose, onOpen, company }: {
  onClose: () => void;
  onOpen: (id: string) => void;
  /** The company that the contact works for, where it is known. */
  company?: Option;
}) {
  const api = useApi();
  const scope = useScope();
  const [fields, setFields] = useState({ first_name: '', last_name: '', email: '', job_title: '' });
  const [stage, setStage] = useState('lead');
  const [tags, setTags] = useState<Option[]>([]);
  const [employer, setEmployer] = useState<Option | null>(company ?? null);
  const stages = useStages();
  const known = useTags();
  const create = useSubmit(
    (_: null, idempotencyKey) =>
      api.post('/api/v1/crm/contacts', {
        idempotencyKey,
        body: {
          email: fields.email.trim(),
          first_name: fields.first_name.trim(),
          last_name: fields.last_name.trim(),
          stage,
          ...(fields.job_title.trim() !== '' && { job_title: fields.job_title.trim() }),
          ...(tags.length > 0 && { tag: tags.map((tag) => tag.value) }),
          ...(employer !== null && { company_id: employer.value }),
        },
      }),
    ({ data }: { data: Contact }) => {
      invalidate(scope, '/api/v1/crm/contacts');
      toast({ title: t('createdToast', { name: nameOf(data) }) });
      onClose();
      onOpen(data.id);
    },
  );
  const existing = isProblem(create.error, 'contact_exists') ? create.error.problem['existing_id'] : undefined;
  const dirty = Object.values(fields).some((value) => value !== '');
  const input = (name: keyof typeof fields) => ({
    value: fields[name],
    onChange: (event: { target: { value: string } }) => setFields({ ...fields, [name]: event.target.value }),
  });
  return (
    <Dialog open onClose={onClose} title={t('createTitle')} keep={dirty}>
      <Form
        problem={isPlanLimit(create.error) || existing !== undefined ? null : describe(create.error)}
        onSubmit={() => void create.submit(null)}
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
        <Field label={t('email')} pointer="/email">
          <Input type="email" autoComplete="off" autoFocus {...input('email')} />
        </Field>
        <div className={styles.pair}>
          <Field label={t('firstName')} pointer="/first_name">
            <Input autoComplete="off" {...input('first_name')} />
          </Field>
          <Field label={t('lastName')} pointer="/last_name">
            <Input autoComplete="off" {...input('last_name')} />
          </Field>
        </div>
        <Field label={t('company')} pointer="/company_id" optional>
          <CompanyChoice value={employer} onChange={setEmployer} />
        </Field>
        <div className={styles.pair}>
          <Field label={t('job')} pointer="/job_title" optional>
            <Input autoComplete="off" {...input('job_title')} />
          </Field>
          <Field label={t('stage')} pointer="/stage">
            <Select label={t('stage')} options={stages} value={stage} onChange={setStage} />
          </Field>
        </div>
        <Field label={t('tags')} pointer="/tag" optional>
          <Combobox
            label={t('tags')}
            multiple
            options={known}
            value={tags}
            onChange={setTags}
            onCreate={(name) => setTags([...tags, { value: name, label: name }])}
          />
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
