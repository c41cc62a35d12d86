import { useState } from 'react';
import { Skeleton } from '@/ui/feedback';
import { Checkbox } from '@/ui/checkbox';
import { Field, Input } from '@/ui/field';
import { Select } from '@/ui/select';
import mail from '../mail/mail.module.css';
import { Builder } from '../segments/builder';
import { useFields, type MoreFields } from '../segments/fields';
import { newCondition, newGroup, readFilter, refusedAt, writeFilter, type FilterJSON } from '../segments/filter';
import { sentence } from '../segments/words';
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
  { value: 'filter', label: t('filterFact') },
];

/** The facts about the mails of an enrolment, which its conditions may name beside the fields of the contact. */
const own: NonNullable<MoreFields['own']> = [
  { field: 'replied', label: t('repliedFact'), type: 'boolean', operators: ['eq'] },
  { field: 'clicked', label: t('clickedFact'), type: 'boolean', operators: ['eq'] },
  { field: 'clicked_link', label: t('linkField'), type: 'keys', operators: ['eq', 'in', 'not_in', 'starts_with'] },
  { field: 'bounced', label: t('bouncedFact'), type: 'boolean', operators: ['eq'] },
];

/** ConditionForm edits what is checked and where both ways lead. */
export function ConditionForm({ step, steps, problems, at, onChange, disabled }: PartProps) {
  const { condition } = step;
  if (condition === undefined) return null;
  const set = (change: Partial<typeof condition>) => onChange({ ...step, condition: { ...condition, ...change } });
  const check = readCheck(condition.filter);
  const choose = (kind: CheckKind) => {
    if (kind === 'clicked_link') set({ filter: writeCheck({ kind, link: 'https://' }) });
    else if (kind !== 'filter') set({ filter: writeCheck({ kind, yes: true }) });
    else set({ filter: writeFilter(newGroup([newCondition({ field: 'stage', operators: ['in'] })]), () => 'key').filter });
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
      <Field label={t('condKind')} error={check.kind === 'filter' ? undefined : at('/condition/filter')}>
        <Select label={t('condKind')} options={kinds} value={check.kind} disabled={disabled} onChange={choose} />
      </Field>
      {(check.kind === 'replied' || check.kind === 'clicked' || check.kind === 'bounced') && (
        <Field label={t('answer')}>
          <Select
            label={t('answer')}
            options={[
              { value: 'yes', label: t('yes') },
              { value: 'no', label: t('no') },
            ]}
            value={check.yes ? 'yes' : 'no'}
            disabled={disabled}
            onChange={(value) => set({ filter: writeCheck({ ...check, yes: value === 'yes' }) })}
          />
        </Field>
      )}
      {check.kind === 'clicked_link' && (
        <Field label={t('linkUrl')} error={at('/condition/filter/value')}>
          <Input
            type="url"
            mono
            value={check.link}
            onChange={(event) => set({ filter: writeCheck({ ...check, link: event.target.value }) })}
          />
        </Field>
      )}
      {check.kind === 'filter' && (
        <FilterForm
          filter={condition.filter}
          problems={problems}
          disabled={disabled}
          onChange={(filter) => set({ filter })}
        />
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

/** FilterForm edits the filter of a condition. What lacks a value is refused when the steps are saved. */
function FilterForm({ filter, problems, disabled, onChange }: Pick<PartProps, 'problems' | 'disabled'> & {
  filter: FilterJSON;
  onChange: (filter: FilterJSON) => void;
}) {
  const fields = useFields({ segments: true, own });
  const [group, setGroup] = useState(() => readFilter(filter));
  if (fields.pending) return <Skeleton width="60%" />;
  if (group === null) return <p className={mail.help}>{t('unreadable')}</p>;
  if (disabled) return <p>{sentence(group, fields.names)}</p>;
  const written = writeFilter(group, fields.names.type);
  return (
    <Builder
      group={group}
      fields={fields}
      onChange={(next) => {
        setGroup(next);
        onChange(writeFilter(next, fields.names.type).filter);
      }}
      errorOf={(id) => refusedAt(written, problems, id, '/condition/filter')}
    />
  );
}
