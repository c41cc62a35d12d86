import { useState } from 'react';
import { formatDay } from '@/lib/intl';
import { Button } from '@/ui/button';
import { later } from '@/ui/later';
import { Menu } from '@/ui/menu';
import { Popover } from '@/ui/popover';
import type { Option } from '@/ui/select';
import { Chip } from '@/ui/toolbar';
import { useMembers, useSegments, useStages, useTags } from '../record/directory';
import { t } from './messages';
import { cleared, filters, type ContactSearch, type FilterName } from './search';
import styles from './contacts.module.css';

const ScoreForm = later(() => import('./filterforms').then((m) => m.ScoreForm));
const CreatedForm = later(() => import('./filterforms').then((m) => m.CreatedForm));
const OptionList = later(() => import('../record/optionlist').then((m) => m.OptionList));

const titles = {
  stage: t('stage'),
  tag: t('tag'),
  segment: t('segment'),
  owner: t('owner'),
  score: t('score'),
  created: t('created'),
} as const;

/** Filters shows one chip for each filter, and a menu that adds one. */
export function Filters({ search, change }: { search: ContactSearch; change: (to: ContactSearch) => void }) {
  const [open, setOpen] = useState<FilterName | null>(null);
  const options = { stage: useStages(), tag: useTags(), segment: useSegments(), owner: useMembers().options };
  const shown = filters.filter((name) => name === open || isSet(search, name));
  const free = filters.filter((name) => !shown.includes(name));
  const close = () => setOpen(null);
  return (
    <>
      {shown.map((name) => (
        <Popover
          key={name}
          label={t('addFilter', { name: titles[name] })}
          open={open === name}
          onOpenChange={(on) => setOpen(on ? name : null)}
          trigger={
            <Chip
              name={titles[name]}
              operator={operatorOf(search, name)}
              value={valueOf(search, name, options)}
              onRemove={() => {
                close();
                change(cleared(search, name));
              }}
            />
          }
        >
          <div className={styles.popover}>
            {name === 'score' ? (
              <ScoreForm search={search} change={change} close={close} />
            ) : name === 'created' ? (
              <CreatedForm search={search} change={change} close={close} />
            ) : (
              <OptionList
                label={titles[name]}
                options={options[name]}
                single={name === 'owner'}
                value={search[name]?.split(',') ?? []}
                onChange={(value) => {
                  change(value.length === 0 ? cleared(search, name) : { ...search, [name]: value.join(',') });
                  if (name === 'owner') close();
                }}
              />
            )}
          </div>
        </Popover>
      ))}
      {free.length > 0 && (
        <Menu
          trigger={
            <Button kind="quiet" size="small" icon="filter">
              {t('filter')}
            </Button>
          }
          // The popover opens after the menu has given the focus back, or it would close at once.
          items={free.map((name) => ({ label: titles[name], onSelect: () => setTimeout(() => setOpen(name)) }))}
        />
      )}
    </>
  );
}

function isSet(search: ContactSearch, name: FilterName): boolean {
  return name === 'created' ? search.from !== undefined || search.to !== undefined : search[name] !== undefined;
}

function operatorOf(search: ContactSearch, name: FilterName): string {
  if (name === 'score') return t('minScore');
  if (name !== 'created') return search[name]?.includes(',') ? t('anyOf') : 'is';
  if (search.from !== undefined && search.to !== undefined) return t('between');
  return search.to === undefined ? t('since') : t('until');
}

function valueOf(
  search: ContactSearch,
  name: FilterName,
  options: Readonly<Record<'stage' | 'tag' | 'segment' | 'owner', readonly Option[]>>,
): string {
  if (!isSet(search, name)) return '…';
  if (name === 'score') return String(search.score);
  if (name === 'created') {
    return [search.from, search.to].flatMap((day) => (day === undefined ? [] : [formatDay(`${day}T00:00`)])).join(' – ');
  }
  const chosen = search[name]?.split(',') ?? [];
  return chosen.map((value) => options[name].find((option) => option.value === value)?.label ?? value).join(', ');
}
