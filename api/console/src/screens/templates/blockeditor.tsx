import { useRef, useState } from 'react';
import { Button, IconButton } from '@/ui/button';
import { cx } from '@/ui/cx';
import { Icon } from '@/ui/icon';
import { Menu } from '@/ui/menu';
import { toast } from '@/ui/toast';
import { useDrag, type Drag } from '../list/usedrag';
import {
  changeItem,
  countOf,
  insertItem,
  kinds,
  limits,
  missingOf,
  moveBy,
  moveTo,
  newItem,
  placeOf,
  summaryOf,
  type Item,
  type Kind,
  type Place,
} from './blocks';
import { BlockForm } from './blockform';
import { t } from './messages';
import styles from './blocks.module.css';

/** What can be done with the blocks; absent for those who may only read. */
interface Edit {
  change: (id: string, by: (item: Item) => Item | null) => void;
  move: (id: string, by: 1 | -1) => void;
  remove: (id: string) => void;
  add: (kind: Kind, place: Omit<Place, 'of'>) => void;
  mayAdd: boolean;
  /** Returns the first control of the block that was just added, which takes the focus from the menu. */
  added: () => HTMLElement | null;
}

interface Shared {
  /** What the service refused, by pointer. */
  errors: readonly { pointer?: string | undefined; detail: string }[];
  openId: string | null;
  setOpen: (id: string | null) => void;
  drag: (key: string) => Drag;
  edit: Edit | undefined;
}

/** BlockEditor edits the blocks that a mail is built from: added, moved by the pointer or by buttons, and written. */
export function BlockEditor({ items, errors, onChange, disabled }: {
  items: readonly Item[];
  errors: Shared['errors'];
  onChange: (items: readonly Item[]) => void;
  disabled: boolean;
}) {
  const [openId, setOpen] = useState<string | null>(null);
  const [said, setSaid] = useState('');
  const root = useRef<HTMLDivElement>(null);
  const added = useRef<string | null>(null);
  const put = (next: readonly Item[], id: string) => {
    if (next === items) return;
    const place = placeOf(next, id);
    onChange(next);
    if (place !== undefined) setSaid(t('moved', { place: place.at + 1, count: place.of }));
  };
  const drag = useDrag<string>((from, to) => {
    const place = dropPlace(items, to);
    if (place !== undefined) put(moveTo(items, from, place), from);
  });
  const edit: Edit = {
    change: (id, by) => onChange(changeItem(items, id, by)),
    move: (id, by) => put(moveBy(items, id, by), id),
    remove: (id) => {
      const kept = items;
      onChange(changeItem(items, id, () => null));
      setSaid(t('removed'));
      toast({ title: t('removed'), onUndo: () => onChange(kept) });
    },
    add: (kind, place) => {
      const item = newItem(kind);
      onChange(insertItem(items, item, place));
      setOpen(item.id);
      added.current = item.id;
    },
    mayAdd: countOf(items) < limits.blocks,
    added: () => {
      const id = added.current;
      added.current = null;
      if (id === null) return null;
      const control = root.current?.querySelector<HTMLElement>(`[data-block="${id}"] :is(textarea, input, [role=radio])`);
      control?.scrollIntoView({ block: 'nearest' });
      return control ?? null;
    },
  };
  const shared: Shared = { errors, openId, setOpen, drag, edit: disabled ? undefined : edit };
  return (
    <div className={styles.blocks} ref={root}>
      <Blocks items={items} pointer="/blocks" {...shared} />
      <p className="visually-hidden" role="status">
        {said}
      </p>
    </div>
  );
}

const endOf = (outer: string, column: number) => `${outer}/${column}`;

/** dropPlace returns the place that the key of a target stands for: that of a block, or the end of a list. */
function dropPlace(items: readonly Item[], key: string): Place | undefined {
  const [outer = '', column] = key.split('/');
  if (column === undefined) return placeOf(items, key);
  if (outer === '') return { at: items.length, of: items.length };
  const size = items.find((item) => item.id === outer)?.columns[Number(column)]?.length;
  return size === undefined ? undefined : { within: { id: outer, column: Number(column) }, at: size, of: size };
}

function Blocks({ items, within, pointer, ...shared }: Shared & {
  items: readonly Item[];
  within?: { id: string; column: number };
  pointer: string;
}) {
  const { edit } = shared;
  const isColumn = within !== undefined;
  const end = shared.drag(endOf(within?.id ?? '', within?.column ?? 0));
  const isFull = !edit?.mayAdd || (isColumn && items.length >= limits.inColumn);
  return (
    <>
      {items.length > 0 && (
        <ol className={styles.list} aria-label={isColumn ? t('column', { number: within.column + 1 }) : t('blocks')}>
          {items.map((item, at) => (
            <BlockCard key={item.id} item={item} at={at} pointer={`${pointer}/${at}`} {...shared} />
          ))}
        </ol>
      )}
      {edit && (
        <div className={cx(styles.end, end.isOver && styles.over)} {...end.target}>
          <Menu
            trigger={
              <Button size="small" icon="plus" kind={isColumn ? 'quiet' : 'plain'} disabled={isFull}>
                {isColumn ? t('addToColumn', { number: within.column + 1 }) : t('addBlock')}
              </Button>
            }
            returnTo={edit.added}
            items={kinds
              .filter((kind) => !isColumn || kind !== 'columns')
              .map((kind) => ({
                label: t(kind),
                onSelect: () => edit.add(kind, { ...(isColumn && { within }), at: items.length }),
              }))}
          />
        </div>
      )}
    </>
  );
}

/** refusedOf returns what is wrong with a block. An open one shows at its fields what is wrong with them. */
function refusedOf(errors: Shared['errors'], pointer: string, isOpen: boolean): string | undefined {
  const at = errors.find(({ pointer: full = '' }) => {
    const rest = full.replace(/^#/, '').startsWith(pointer) ? full.replace(/^#/, '').slice(pointer.length) : null;
    return rest === '' || (!isOpen && rest !== null && /^\/[a-z]+$/.test(rest));
  });
  return at?.detail;
}

function BlockCard({ item, at, pointer, ...shared }: Shared & { item: Item; at: number; pointer: string }) {
  const { openId, setOpen, edit } = shared;
  const drag = shared.drag(item.id);
  const { kind } = item;
  const isOpen = openId === item.id;
  const refused = refusedOf(shared.errors, pointer, isOpen);
  const missing = missingOf(item);
  const error = refused ?? (missing === null || isOpen ? undefined : t(`missing_${missing}`));
  const summary = kind === 'columns' ? t('columnCount', { count: item.columns.length }) : summaryOf(item);
  const name = `${t('blockNumber', { number: at + 1 })}: ${t(kind)}`;
  return (
    <li className={cx(styles.item, drag.isOver && styles.over)} {...drag.target}>
      <div role="group" className={cx(styles.card, error !== undefined && styles.wrong)} aria-label={name}>
        <div className={styles.head}>
          {edit && (
            <span className={styles.grip} {...drag.grip} title={t('drag')} aria-hidden="true">
              <Icon name="grip" />
            </span>
          )}
          <span className={styles.what}>
            <span className="meta">{t(kind)}</span>
            {summary !== '' && <span className={styles.summary}>{summary}</span>}
          </span>
          {edit && (
            <span className={styles.tools}>
              <IconButton icon="up" label={t('moveUp')} onClick={() => edit.move(item.id, -1)} />
              <IconButton icon="down" label={t('moveDown')} onClick={() => edit.move(item.id, 1)} />
              <IconButton icon="trash" label={t('remove')} onClick={() => edit.remove(item.id)} />
            </span>
          )}
          <Button size="small" aria-expanded={isOpen} onClick={() => setOpen(isOpen ? null : item.id)}>
            {isOpen ? t('done') : t('edit')}
          </Button>
        </div>
        {error !== undefined && (
          <p className={styles.error}>
            <Icon name="error" />
            {error}
          </p>
        )}
        {isOpen && (
          <fieldset className={styles.body} data-block={item.id} disabled={edit === undefined}>
            <legend className="visually-hidden">{name}</legend>
            <BlockForm item={item} pointer={pointer} onChange={(next) => edit?.change(item.id, () => next)} />
          </fieldset>
        )}
        {item.columns.length > 0 && (
          <div className={styles.columns}>
            {item.columns.map((column, i) => (
              <div key={i} className={styles.column}>
                <Blocks
                  items={column}
                  within={{ id: item.id, column: i }}
                  pointer={`${pointer}/columns/${i}/blocks`}
                  {...shared}
                />
              </div>
            ))}
          </div>
        )}
      </div>
    </li>
  );
}
