import { useEffect, useState } from 'react';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Select } from '@/ui/select';
import { SearchInput, Toolbar } from '@/ui/toolbar';
import type { useCallers } from './callers';
import { t } from './messages';
import { dayOf, type Period, periodOf, since, startOf } from './period';
import type { RequestSearch } from './routes';
import styles from './requests.module.css';

const classes = [
  { value: '', label: t('anyStatus') },
  { value: '2xx', label: t('ok') },
  { value: '4xx', label: t('refused') },
  { value: '5xx', label: t('failed') },
];

/** Filters chooses request id, status, route, key and time. All of them are in the address, so a view can be passed on. */
export function Filters({ search, callers, routes, onChange }: {
  search: RequestSearch;
  callers: ReturnType<typeof useCallers>;
  /** The routes of the requests that are shown. */
  routes: readonly string[];
  onChange: (search: RequestSearch) => void;
}) {
  const [isRange, setRange] = useState(false);
  const change = (part: { [K in keyof RequestSearch]: RequestSearch[K] | undefined }) => {
    const next: RequestSearch = {};
    for (const [name, value] of Object.entries({ ...search, ...part })) {
      if (value) next[name as keyof RequestSearch] = value;
    }
    onChange(next);
  };
  const { key, status } = search;
  const period = isRange ? 'range' : periodOf(search.from, search.to, new Date());
  return (
    <Toolbar label={t('title')}>
      <IdSearch value={search.id ?? ''} onChange={(id) => change({ id })} />
      <span className={styles.select}>
        <Select
          size="small"
          label={t('status')}
          value={status ?? ''}
          onChange={(value) => change({ status: value })}
          options={
            status === undefined || classes.some(({ value }) => value === status)
              ? classes
              : [...classes, { value: status, label: status }]
          }
        />
      </span>
      <span className={styles.select}>
        <Select
          size="small"
          label={t('route')}
          value={search.route ?? ''}
          onChange={(route) => change({ route })}
          options={[{ value: '', label: t('anyRoute') }, ...routes.map((route) => ({ value: route, label: route }))]}
        />
      </span>
      <span className={styles.select}>
        <Select
          size="small"
          label={t('caller')}
          value={key ?? ''}
          onChange={(value) => change({ key: value })}
          options={[
            { value: '', label: t('anyKey') },
            ...callers.keys,
            ...(key === undefined || callers.keys.some(({ value }) => value === key)
              ? []
              : [{ value: key, label: t('formerKey') }]),
          ]}
        />
      </span>
      <span className={styles.select}>
        <Select<Period>
          size="small"
          label={t('time')}
          value={period}
          onChange={(value) => {
            setRange(value === 'range');
            if (value !== 'range') change({ from: since(value, new Date()), to: undefined });
          }}
          options={[
            { value: 'any', label: t('anyTime') },
            { value: 'hour', label: t('hour') },
            { value: 'day', label: t('day') },
            { value: 'range', label: t('range') },
          ]}
        />
      </span>
      {period === 'range' && (
        <span className={styles.range}>
          <Field label={t('from')} hideLabel>
            <Input type="date" value={dayOf(search.from)} onChange={(event) => change({ from: startOf(event.target.value) })} />
          </Field>
          <Field label={t('to')} hideLabel>
            <Input type="date" value={dayOf(search.to, 1)} onChange={(event) => change({ to: startOf(event.target.value, 1) })} />
          </Field>
        </span>
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

/** IdSearch looks for a request id once typing has stopped. */
function IdSearch({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => onChange(text.trim()), 300);
    return () => clearTimeout(timer);
  }, [text]); // onChange and value are those of the last text
  return <SearchInput label={t('search')} value={text} onChange={setText} />;
}
