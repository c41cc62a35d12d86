import { useMemo, useState } from 'react';
import { formatNumber } from '@/lib/intl';
import { messages } from '@/lib/messages';
import { useRead, type Row } from '@/lib/read';
import { Checkbox } from '@/ui/checkbox';
import { Skeleton } from '@/ui/feedback';
import { Badge } from '@/ui/status';
import { SearchInput } from '@/ui/toolbar';
import { groupTypes, toggleGroup, toggleType } from './types';
import styles from './picker.module.css';

const t = messages({
  all: 'All events',
  allHelp: 'Those that later versions add, too.',
  search: 'Search event types',
  chosen: { one: '{count} type chosen', other: '{count} types chosen' },
  none: 'No event type matches',
  later: 'Not emitted yet',
});

export type EventType = Row<'/api/v1/event-types'>;

/** EventPicker chooses event types by group, with a search, or all of them: ["*"]. */
export function EventPicker({ value, onChange }: { value: readonly string[]; onChange: (next: string[]) => void }) {
  const types = useRead('/api/v1/event-types');
  const [search, setSearch] = useState('');
  const all = useMemo(() => types.data?.data ?? [], [types.data]);
  const groups = useMemo(() => groupTypes(all, search), [all, search]);
  const isAll = value.includes('*');
  return (
    <div className={styles.picker} role="group" aria-label="Event types">
      <div className={styles.head}>
        <Checkbox label={t('all')} help={t('allHelp')} checked={isAll} onChange={(on) => onChange(on ? ['*'] : [])} />
        {!isAll && (
          <div className={styles.find}>
            <SearchInput label={t('search')} value={search} onChange={setSearch} />
            <span className="meta num" aria-live="polite">
              {t('chosen', { count: value.length })}
            </span>
          </div>
        )}
      </div>
      {!isAll && (
        <div className={styles.body} tabIndex={0} role="region" aria-label="Groups of event types">
          {types.data === undefined && <Skeleton width="70%" />}
          {types.data !== undefined && groups.length === 0 && <p className="meta">{t('none')}</p>}
          {groups.map(({ noun, types: some }) => {
            const chosen = some.filter((one) => value.includes(one.type)).length;
            return (
              <fieldset key={noun} className={styles.group}>
                <legend className={styles.legend}>
                  <Checkbox
                    label={noun}
                    checked={chosen === some.length}
                    mixed={chosen > 0 && chosen < some.length}
                    onChange={(on) => onChange(toggleGroup(value, some, on))}
                  />
                  <span className="meta num">{`${formatNumber(chosen)}/${formatNumber(some.length)}`}</span>
                </legend>
                {some.map((one) => (
                  <Checkbox
                    key={one.type}
                    label={
                      <>
                        <code>{one.type}</code> {!one.live && <Badge>{t('later')}</Badge>}
                      </>
                    }
                    help={one.description}
                    checked={value.includes(one.type)}
                    onChange={(on) => onChange(toggleType(value, one.type, on))}
                  />
                ))}
              </fieldset>
            );
          })}
        </div>
      )}
    </div>
  );
}
