import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { describe } from '@/lib/describe';
import { toMinorUnits } from '@/lib/intl';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Select, type Option } from '@/ui/select';
import { toast } from '@/ui/toast';
import { CompanyChoice } from '../record/companychoice';
import type { Members } from '../record/directory';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import type { Deal, Pipeline } from './board';
import { ContactChoice } from './contactchoice';
import { t } from './messages';
import { useRefreshDeals } from './write';
import styles from './deals.module.css';

/** The currencies that are offered; a deal that has another keeps it. */
export const currencies = ['USD', 'EUR', 'GBP', 'CHF', 'CAD', 'AUD', 'JPY', 'SEK', 'NOK', 'DKK', 'PLN', 'INR', 'BRL'];

/** CreateDeal is the dialog that adds a deal. What was typed stays until it is created. */
export function CreateDeal({ pipeline, members, onClose }: {
  pipeline: Pipeline;
  members: Members;
  onClose: () => void;
}) {
  const api = useApi();
  const navigate = useNavigate();
  const refresh = useRefreshDeals();
  const [name, setName] = useState('');
  const [amount, setAmount] = useState('');
  const [currency, setCurrency] = useState('USD');
  const [stage, setStage] = useState(pipeline.stages[0]?.id ?? '');
  const [closeOn, setCloseOn] = useState('');
  const [contact, setContact] = useState<Option | null>(null);
  const [company, setCompany] = useState<Option | null>(null);
  const [owner, setOwner] = useState('');
  const [checked, setChecked] = useState(false);
  const minor = amount.trim() === '' ? 0 : toMinorUnits(amount, currency);
  const create = useSubmit(
    (minorUnits: number, idempotencyKey) =>
      api.post('/api/v1/crm/deals', {
        idempotencyKey,
        body: {
          name: name.trim(),
          amount: minorUnits,
          currency,
          stage_id: stage,
          ...(closeOn !== '' && { expected_close_on: closeOn }),
          ...(contact !== null && { contact_id: contact.value }),
          ...(company !== null && { company_id: company.value }),
          ...(owner !== '' && { owner_id: owner }),
        },
      }),
    ({ data }: { data: Deal }) => {
      refresh();
      toast({
        title: t('created', { name: data.name }),
        action: {
          label: t('open'),
          onClick: () => void navigate({ to: '/app/deals/$id', params: { id: data.id }, search: true }),
        },
      });
      onClose();
    },
  );
  const submit = () => {
    setChecked(true);
    if (minor !== null && name.trim() !== '') void create.submit(minor);
  };
  return (
    <Dialog open onClose={onClose} title={t('createTitle')} keep={name !== '' || amount !== ''}>
      <Form problem={isPlanLimit(create.error) ? null : describe(create.error)} onSubmit={submit}>
        <PlanLimit error={create.error} />
        <Field label={t('name')} pointer="/name" error={checked && name.trim() === '' ? t('noName') : undefined}>
          <Input
            autoFocus
            value={name}
            autoComplete="off"
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
        <div className={styles.pair}>
          <Field label={t('amount')} pointer="/amount" error={checked && minor === null ? t('badAmount') : undefined}>
            <Input
              value={amount}
              inputMode="decimal"
              autoComplete="off"
              placeholder="0.00"
              onChange={(event) => setAmount(event.target.value)}
            />
          </Field>
          <Field label={t('currency')} pointer="/currency">
            <Select
              label={t('currency')}
              options={currencies.map((value) => ({ value, label: value }))}
              value={currency}
              onChange={setCurrency}
            />
          </Field>
        </div>
        <div className={styles.two}>
          <Field label={t('stage')} pointer="/stage_id">
            <Select
              label={t('stage')}
              options={pipeline.stages.map(({ id, name: label }) => ({ value: id, label }))}
              value={stage}
              onChange={setStage}
            />
          </Field>
          <Field label={t('closeOn')} pointer="/expected_close_on" optional>
            <Input type="date" value={closeOn} onChange={(event) => setCloseOn(event.target.value)} />
          </Field>
        </div>
        <Field label={t('contact')} pointer="/contact_id" optional>
          <ContactChoice value={contact} onChange={setContact} />
        </Field>
        <Field label={t('company')} pointer="/company_id" optional>
          <CompanyChoice value={company} onChange={setCompany} />
        </Field>
        <Field label={t('owner')} pointer="/owner_id">
          <Select
            label={t('owner')}
            options={[{ value: '', label: t('noOwner') }, ...members.options]}
            value={owner}
            onChange={setOwner}
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
