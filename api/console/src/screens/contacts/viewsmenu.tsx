import { useState } from 'react';
import { describe } from '@/lib/describe';
import { Button } from '@/ui/button';
import { later } from '@/ui/later';
import { Menu, type MenuEntry } from '@/ui/menu';
import { toast } from '@/ui/toast';
import { columnNames, type ColumnName } from './columns';
import { t } from './messages';
import type { ContactSearch } from './search';
import { isSameView, type Saved, type View } from './views';

const NameView = later(() => import('./nameview').then((m) => m.NameView));

interface Props {
  search: ContactSearch;
  columns: readonly ColumnName[];
  saved: Saved;
  store: (next: Saved) => Promise<void>;
  /** Shows a view; null is all contacts. */
  show: (view: View | null) => void;
}

/** ViewsMenu shows, saves and deletes views. */
export function ViewsMenu({ search, columns, saved, store, show }: Props) {
  const [naming, setNaming] = useState(false);
  const active = saved.views.find((view) => isSameView(search, view));
  const write = (next: Saved, title: string) => {
    const undo = saved;
    store(next).then(
      () => toast({ title, onUndo: () => void store(undo).catch(report) }),
      report,
    );
  };
  const { open: _, ...kept } = search;
  const items: MenuEntry[] = [
    { label: t('allContacts'), checked: active === undefined && Object.keys(kept).length === 0, onSelect: () => show(null) },
    {
      label: t('archivedContacts'),
      checked: search.archived === true && active === undefined,
      onSelect: () => show({ name: '', search: { archived: true }, columns: saved.columns }),
    },
    ...(saved.views.length > 0 ? [null, t('views')] : []),
    ...saved.views.map((view) => ({ label: view.name, checked: view === active, onSelect: () => show(view) })),
    null,
    { label: t('saveView'), icon: 'plus', onSelect: () => setNaming(true) },
  ];
  if (active !== undefined) {
    const { name } = active;
    items.push({
      label: t('deleteView', { name }),
      icon: 'trash',
      danger: true,
      onSelect: () =>
        write({ ...saved, views: saved.views.filter((view) => view !== active) }, t('viewDeleted', { name })),
    });
  }
  return (
    <>
      <Menu
        align="end"
        trigger={
          <Button kind="quiet" size="small" icon="eye" after="down">
            {active?.name ?? t('views')}
          </Button>
        }
        items={items}
      />
      {naming && (
        <NameView
          onClose={() => setNaming(false)}
          save={(name) =>
            store({
              ...saved,
              views: [...saved.views.filter((view) => view.name !== name), { name, search: kept, columns }],
            })
          }
        />
      )}
    </>
  );
}

function report(error: unknown): void {
  const { detail, request_id } = describe(error) ?? { detail: '', request_id: undefined };
  toast({ kind: 'bad', title: t('notSaved'), detail, ...(request_id !== undefined && { requestId: request_id }) });
}

/** ColumnsMenu chooses the columns of the list. */
export function ColumnsMenu({ columns, change }: {
  columns: readonly ColumnName[];
  change: (columns: readonly ColumnName[]) => void;
}) {
  return (
    <Menu
      align="end"
      trigger={
        <Button kind="quiet" size="small" icon="columns">
          {t('columns')}
        </Button>
      }
      items={columnNames.map((name) => ({
        label: t(name),
        checked: columns.includes(name),
        onSelect: () => change(columnNames.filter((one) => columns.includes(one) !== (one === name))),
      }))}
    />
  );
}
