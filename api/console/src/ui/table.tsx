import { useEffect, useImperativeHandle, useRef, useState, type KeyboardEvent, type ReactNode, type Ref } from 'react';
import { TableHead, type Column, type Sort } from './tablehead';
import { TableRow } from './tablerow';
import { Skeleton } from './feedback';
import type { MenuEntry } from './menu';
import { useWindow } from './window';
import { cx } from './cx';
import styles from './table.module.css';

export type { Column, Sort } from './tablehead';

/** TableHandle is for the page's keys: j k x Enter . act on the row that has or had the focus. */
export interface TableHandle {
  move: (by: number) => void;
  open: () => void;
  toggle: () => void;
  menu: () => void;
}

/** RowWindow is a list of any length of which some rows are loaded. lib's List is one. */
export interface RowWindow<R> {
  length: number;
  /** The row at index, or undefined while it is loading. */
  row: (index: number) => R | undefined;
  /** Called with the rows in view, whose loading it begins. */
  pages: { show: (first: number, last: number) => void };
  /** The scroll offset to begin with, and what is called with the one that the list is left with. */
  offset: number;
  keepOffset: (offset: number) => void;
}

export interface TableProps<R> {
  /** Names the table for screen readers: "Contacts". */
  label: string;
  columns: readonly Column<R>[];
  /** All known rows, or a window over a long list. */
  rows: readonly R[] | RowWindow<R>;
  rowKey: (row: R) => string;
  /** Opens the row; href makes its name a link that can be opened in another tab. */
  onOpen?: (row: R) => void;
  href?: (row: R) => string;
  /** The keys of the selected rows. Without onSelect rows have no checkbox. */
  selected?: ReadonlySet<string>;
  onSelect?: (keys: Set<string>) => void;
  actions?: (row: R) => readonly MenuEntry[];
  sort?: Sort | undefined;
  onSort?: (sort: Sort) => void;
  /** The row that the side panel shows. */
  current?: string | undefined;
  /** Set while there is a further page; called when its place comes near. */
  onMore?: (() => void) | undefined;
  loading?: boolean;
  twoLines?: boolean;
  /** A second line below the name on phones, where columns marked wide are hidden. */
  phone?: (row: R) => ReactNode;
  /** The number of all rows, where it is known. */
  total?: number | undefined;
  ref?: Ref<TableHandle>;
}

const rowHeight = { one: 36, two: 52 };

/**
 * Table shows rows of cursor pages and keeps in the page only those that are in view. It fills its container, which
 * must be a flex column of limited height. Arrow keys, j and k move; x selects, Shift selects a range, Enter opens,
 * "." opens the row's actions.
 */
export function Table<R>(props: TableProps<R>) {
  const { label, columns, rows, rowKey, selected = none, onSelect, actions, onMore, loading, twoLines } = props;
  const { length } = rows;
  const part = 'row' in rows ? rows : undefined;
  const rowAt = (index: number): R | undefined => ('row' in rows ? rows.row(index) : rows[index]);
  const scroll = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const [menuAt, setMenuAt] = useState<string | null>(null);
  const anchor = useRef(0); // where a range with Shift begins
  const wantsFocus = useRef(false);
  const at = Math.min(active, length - 1);

  const height = twoLines || (props.phone && isPhone()) ? rowHeight.two : rowHeight.one;
  const { first, end, scrollTo } = useWindow(scroll, { count: length, height, offset: part?.offset ?? 0 });
  const lastIndex = end - 1;
  useEffect(() => {
    if (onMore && !loading && lastIndex >= length - 20) onMore();
  }, [onMore, loading, lastIndex, length]);

  const pages = part?.pages;
  useEffect(() => {
    if (lastIndex >= 0) pages?.show(first, lastIndex);
  }, [pages, first, lastIndex]);
  const keepOffset = useRef(part?.keepOffset);
  keepOffset.current = part?.keepOffset;
  useEffect(() => {
    const box = scroll.current;
    return () => keepOffset.current?.(box?.scrollTop ?? 0);
  }, [pages]);

  const focusRow = (index: number) => {
    const row = scroll.current?.querySelector<HTMLElement>(`[data-index="${index}"]`);
    if (!row) return;
    wantsFocus.current = false;
    row.focus({ preventScroll: true });
  };
  useEffect(() => {
    if (wantsFocus.current) focusRow(at);
  });

  const move = (to: number) => {
    const next = Math.max(0, Math.min(length - 1, to));
    wantsFocus.current = true;
    setActive(next);
    scrollTo(next);
    if (next === active) focusRow(next); // nothing is rendered anew
  };
  const toggle = (index: number, range = false) => {
    const row = rowAt(index);
    if (!onSelect || row === undefined) return;
    const next = new Set(selected);
    const from = range ? Math.min(anchor.current, index) : index;
    const to = range ? Math.max(anchor.current, index) : index;
    const on = range || !selected.has(rowKey(row));
    for (let i = from; i <= to; i++) {
      const one = rowAt(i);
      if (one === undefined) continue;
      if (on) next.add(rowKey(one));
      else next.delete(rowKey(one));
    }
    anchor.current = index;
    onSelect(next);
  };
  const row = rowAt(at);
  const handle: TableHandle = {
    // The first key focuses the row that is or was the active one.
    move: (by) => move(scroll.current?.querySelector('tr:focus') == null ? at : at + by),
    open: () => row !== undefined && props.onOpen?.(row),
    toggle: () => row !== undefined && toggle(at),
    menu: () => row !== undefined && actions && setMenuAt(rowKey(row)),
  };
  useImperativeHandle(props.ref, () => handle);

  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || !event.target.matches('tr') || event.ctrlKey || event.metaKey) return;
    const page = Math.floor((scroll.current?.clientHeight ?? height) / height) - 1;
    const act = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      j: () => move(at + 1),
      k: () => move(at - 1),
      Home: () => move(0),
      End: () => move(length - 1),
      PageDown: () => move(at + page),
      PageUp: () => move(at - page),
      x: () => toggle(at),
      X: () => toggle(at, true),
      ' ': () => toggle(at, event.shiftKey),
      Enter: handle.open,
      '.': handle.menu,
    }[event.key];
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  const width = columns.length + (onSelect ? 1 : 0) + (actions ? 1 : 0);
  const all = selected.size > 0 && isEvery(length, rowAt, (one) => selected.has(rowKey(one)));
  return (
    <div className={styles.scroll} ref={scroll}>
      <table
        className={cx(styles.table, twoLines && styles.two, props.phone && styles.cards)}
        role="grid"
        aria-label={label}
        aria-rowcount={props.total ?? (onMore || part ? -1 : length + 1)}
        aria-multiselectable={onSelect ? true : undefined}
        aria-busy={loading || undefined}
        onKeyDown={onKeyDown}
      >
        <TableHead
          columns={columns}
          sort={props.sort}
          {...(props.onSort && { onSort: props.onSort })}
          hasActions={actions !== undefined}
          {...(onSelect && {
            all: { on: all, mixed: !all && selected.size > 0, set: (on) => onSelect(new Set(on ? loadedOf(length, rowAt).map(rowKey) : [])) },
          })}
        />
        <tbody>
          {first > 0 && <Spacer height={first * height} />}
          {Array.from({ length: end - first }, (_, i) => {
            const index = first + i;
            const one = rowAt(index);
            if (one === undefined) {
              return <LoadingRow key={index} at={index} columns={columns} width={width} select={!!onSelect} />;
            }
            const key = rowKey(one);
            return (
              <TableRow
                key={key}
                row={one}
                index={index}
                columns={columns}
                href={props.href?.(one)}
                {...(props.onOpen && { onOpen: () => props.onOpen?.(one) })}
                phone={props.phone?.(one)}
                isActive={index === at}
                onActivate={() => setActive(index)}
                isCurrent={props.current === key}
                isSelected={selected.has(key)}
                {...(onSelect && { onToggle: (range: boolean) => toggle(index, range) })}
                {...(actions && { actions: () => actions(one) })}
                menuOpen={menuAt === key}
                setMenuOpen={(open) => setMenuAt(open ? key : null)}
              />
            );
          })}
          {end < length && <Spacer height={(length - end) * height} />}
          {loading && <Loading rows={length === 0 ? 12 : 3} columns={columns} width={width} select={!!onSelect} />}
        </tbody>
      </table>
    </div>
  );
}

const isPhone = () => matchMedia('(max-width: 599px)').matches;

const none: ReadonlySet<string> = new Set();

/** Spacer stands for rows that are not in view. It spans no columns: on phones some of them are hidden. */
function Spacer({ height }: { height: number }) {
  return (
    <tr className={styles.spacer} aria-hidden="true">
      <td style={{ height }} />
    </tr>
  );
}

function Loading<R>({ rows, ...rest }: {
  rows: number;
  columns: readonly Column<R>[];
  width: number;
  select: boolean;
}) {
  return Array.from({ length: rows }, (_, i) => <LoadingRow key={i} at={i} {...rest} />);
}

function LoadingRow<R>({ at, columns, width, select }: {
  at: number;
  columns: readonly Column<R>[];
  width: number;
  select: boolean;
}) {
  return (
    <tr aria-hidden="true">
      {select && <td className={styles.check} />}
      {columns.map((column, c) => (
        <td key={column.key} className={cx(column.end && styles.end, column.wide && styles.wide)}>
          <Skeleton width={`${[62, 78, 48, 70][(at + c) % 4]}%`} />
        </td>
      ))}
      {width > columns.length + (select ? 1 : 0) && <td />}
    </tr>
  );
}

function loadedOf<R>(length: number, rowAt: (index: number) => R | undefined): R[] {
  const loaded: R[] = [];
  for (let i = 0; i < length; i++) {
    const row = rowAt(i);
    if (row !== undefined) loaded.push(row);
  }
  return loaded;
}

/** isEvery reports whether is holds for every loaded row. */
function isEvery<R>(length: number, rowAt: (index: number) => R | undefined, is: (row: R) => boolean): boolean {
  for (let i = 0; i < length; i++) {
    const row = rowAt(i);
    if (row !== undefined && !is(row)) return false;
  }
  return true;
}
