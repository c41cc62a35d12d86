import { useState } from 'react';
import { useRead } from '@/lib/read';
import { Checkbox } from '@/ui/checkbox';
import { Field, Input, Textarea } from '@/ui/field';
import { Select } from '@/ui/select';
import mail from '../mail/mail.module.css';
import { label } from '../record/label';
import { readCheck, writeCheck, type Check } from './condition';
import { t } from './messages';
import { DelayFields, type PartProps } from './stepform';
import { stepName } from './words';

type CheckKind = Check['kind'];

const kinds: readonly { value: CheckKind; label: string }[] = [
  { value: 'replied', label: t('repliedFact') },
  { value: 'clicked', label: t('clickedFact') },
  { value: 'clicked_link', label: t('linkFact') },
  { value: 'bounced', label: t('bouncedFact') },
  { value: 'field', label: t('fieldFact') },
  { value: 'json', label: t('jsonFact') },
];

/** ConditionForm edits what is checked and where both ways lead. */
export function ConditionForm({ step, steps, at, onChange, disabled }: PartProps) {
  const { condition } = step;
  const fields = useRead('/api/v1/crm/filter-fields');
  const all = fields.data?.data ?? [];
  const find = (name: string) => all.find((one) => one.field === name);
  const [check, setCheck] = useState<Check>(() => readCheck(condition?.filter ?? {}));
  if (condition === undefined) return null;
  const set = (change: Partial<typeof condition>) => onChange({ ...step, condition: { ...condition, ...change } });
  const setFilter = (next: Check) => {
    setCheck(next);
    const filter = writeCheck(next, (name) => find(name)?.type);
    if (filter !== null) set({ filter });
  };
  const choose = (kind: CheckKind) => {
    if (kind === 'json') return setFilter({ kind, text: JSON.stringify(condition.filter, null, 2) });
    if (kind === 'clicked_link') return setFilter({ kind, link: 'https://' });
    if (kind === 'field') return setFilter({ kind, field: 'stage', op: 'eq', value: find('stage')?.values?.[0] ?? '' });
    return setFilter({ kind, yes: true });
  };
  const place = steps.findIndex((one) => one.key === step.key);
  const targets = [
    { value: '', label: t('nextStep') },
    ...steps.slice(place + 1).map((one) => ({ value: one.key, label: t('goTo', { step: stepName(steps, one.key) }) })),
    { value: 'end', label: t('endHere') },
  ];
  const { within } = condition;
  return (
    <>
      <Field label={t('condKind')} error={at('/condition/filter') ?? at('/condition/filter/field')}>
        <Select label={t('condKind')} options={kinds} value={check.kind} disabled={disabled} onChange={choose} />
      </Field>
      {(check.kind === 'replied' || check.kind === 'clicked' || check.kind === 'bounced') && (
        <Field label={t('value')}>
          <Select
            label={t('value')}
            options={[
              { value: 'yes', label: t('yes') },
              { value: 'no', label: t('no') },
            ]}
            value={check.yes ? 'yes' : 'no'}
            disabled={disabled}
            onChange={(value) => setFilter({ ...check, yes: value === 'yes' })}
          />
        </Field>
      )}
      {check.kind === 'clicked_link' && (
        <Field label={t('linkUrl')} error={at('/condition/filter/value')}>
          <Input type="url" mono value={check.link} onChange={(e) => setFilter({ ...check, link: e.target.value })} />
        </Field>
      )}
      {check.kind === 'field' && (
        <div className={mail.triple}>
          <Field label={t('field')}>
            <Select
              label={t('field')}
              options={all.map((one) => ({ value: one.field, label: label(one.field) }))}
              value={check.field}
              disabled={disabled}
              onChange={(field) => setFilter({ ...check, field, op: find(field)?.operators[0] ?? 'eq', value: '' })}
            />
          </Field>
          <Field label={t('operator')} error={at('/condition/filter/op')}>
            <Select
              label={t('operator')}
              options={(find(check.field)?.operators ?? [check.op])
                .filter((op) => op !== 'in' && op !== 'not_in')
                .map((op) => ({ value: op, label: label(op) }))}
              value={check.op}
              disabled={disabled}
              onChange={(op) => setFilter({ ...check, op })}
            />
          </Field>
          <Field label={t('value')} error={at('/condition/filter/value')}>
            <Input value={check.value} onChange={(e) => setFilter({ ...check, value: e.target.value })} />
          </Field>
        </div>
      )}
      {check.kind === 'json' && (
        <Field
          label={t('jsonFilter')}
          help={t('jsonHelp')}
          error={writeCheck(check, () => undefined) === null ? t('jsonWrong') : undefined}
        >
          <Textarea mono rows={6} value={check.text} onChange={(e) => setFilter({ ...check, text: e.target.value })} />
        </Field>
      )}
      <div className={mail.pair}>
        <Field label={t('ifYes')} error={at('/condition/then')}>
          <Select
            label={t('ifYes')}
            options={targets}
            value={condition.then}
            disabled={disabled}
            onChange={(then) => set({ then })}
          />
        </Field>
        <Field label={t('ifNo')} error={at('/condition/else')}>
          <Select
            label={t('ifNo')}
            options={targets}
            value={condition.else}
            disabled={disabled}
            onChange={(next) => set({ else: next })}
          />
        </Field>
      </div>
      <Checkbox
        label={t('within')}
        help={t('withinHelp')}
        checked={within !== undefined}
        disabled={disabled}
        onChange={(on) => {
          const { within: _, ...rest } = condition;
          onChange({ ...step, condition: on ? { ...rest, within: { value: 3, unit: 'days' } } : rest });
        }}
      />
      {within !== undefined && (
        <DelayFields
          label={t('delay')}
          value={within}
          error={at('/condition/within/value')}
          disabled={disabled}
          onChange={(next) => set({ within: next })}
        />
      )}
    </>
  );
}
