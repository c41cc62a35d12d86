import { useState } from 'react';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Select } from '@/ui/select';
import { Chip, Toolbar } from '@/ui/toolbar';
import { knownActions, t, actionName } from './messages';
import type { usePeople } from './people';
import type { AuditSearch } from './routes';
import { type Period, periodOf, since, startOf } from './period';
import styles from './audit.module.css';

/** Filters chooses actor, action and time. All of them are in the address, so a view can be passed on. */
export function Filters({
  search,
  people,
  onChange,
}: {
  search: AuditSearch;
  people: ReturnType<typeof usePeople>;
  onChange: (search: AuditSearch) => void;
}) {
  const [isRange, setRange] = useState(search.before !== undefined);
  const change = (part: { [K in keyof AuditSearch]: AuditSearch[K] | undefined }) => {
    const next: AuditSearch = {};
    for (const [name, value] of Object.entries({ ...search, ...part })) {
      if (value) next[name as keyof AuditSearch] = value;
    }
    onChange(next);
  };
  const setPeriod = (period: Period) => {
    setRange(period === 'range');
    if (period !== 'range') change({ after: since(period, new Date()), before: undefined });
  };
  const actions =
    search.action === undefined || knownActions.some(({ value }) => value === search.action)
      ? knownActions
      : [...knownActions, { value: search.action, label: actionName(search.action) }];
  return (
    <Toolbar label={t('title')}>
      <span className={styles.select}>
        <Select
          size="small"
          label={t('action')}
          value={search.action ?? ''}
          onChange={(action) => change({ action })}
          options={[{ value: '', label: t('anyAction') }, ...actions]}
        />
      </span>
      <span className={styles.select}>
        <Select
          size="small"
          label={t('actor')}
          value={search.actor ?? ''}
          onChange={(actor) => change({ actor })}
          options={[
            { value: '', label: t('anyActor') },
            ...people.options,
            ...(search.actor !== undefined && people.find(search.actor) === undefined
              ? [{ value: search.actor, label: t('formerUser') }]
              : []),
          ]}
        />
      </span>
      <span className={styles.select}>
        <Select<Period>
          size="small"
          label={t('time')}
          value={isRange ? 'range' : periodOf(search.after, new Date())}
          onChange={setPeriod}
          options={[
            { value: 'any', label: t('anyTime') },
            { value: 'day', label: t('day') },
            { value: 'week', label: t('week') },
            { value: 'month', label: t('month') },
            { value: 'range', label: t('range') },
          ]}
        />
      </span>
      {isRange && (
        <span className={styles.range}>
          <Day label={t('from')} value={search.after} onChange={(day) => change({ after: startOf(day) })} />
          <Day label={t('to')} value={search.before} end onChange={(day) => change({ before: startOf(day, 1) })} />
        </span>
      )}
      {search.target !== undefined && (
        <Chip name={t('target')} value={people.find(search.target) ?? t('onTarget')} onRemove={() => change({ target: undefined })} />
      )}
      {Object.keys(search).length > 0 && (
        <Button
          kind="quiet"
          size="small"
          onClick={() => {
            setRange(false);
            onChange({});
          }}
        >
          {t('clear')}
        </Button>
      )}
    </Toolbar>
  );
}

function Day({
  label,
  value,
  end,
  onChange,
}: {
  label: string;
  value: string | undefined;
  /** The day that ends at value. */
  end?: boolean;
  onChange: (day: string) => void;
}) {
  const at = value === undefined ? undefined : new Date(Date.parse(value) - (end ? 1 : 0));
  const text =
    at === undefined || Number.isNaN(at.getTime())
      ? ''
      : `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}-${String(at.getDate()).padStart(2, '0')}`;
  return (
    <Field label={label} hideLabel>
      <Input type="date" value={text} onChange={(event) => onChange(event.target.value)} />
    </Field>
  );
}
