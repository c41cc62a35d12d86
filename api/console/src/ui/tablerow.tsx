import { useRef, type MouseEvent, type ReactNode } from 'react';
import { IconButton } from './button';
import { Checkbox } from './checkbox';
import { Menu, type MenuEntry } from './menu';
import type { Column } from './tablehead';
import { cx } from './cx';
import styles from './table.module.css';

export interface TableRowProps<R> {
  row: R;
  index: number;
  columns: readonly Column<R>[];
  href: string | undefined;
  onOpen?: () => void;
  phone: ReactNode;
  isActive: boolean;
  onActivate: () => void;
  isCurrent: boolean;
  isSelected: boolean;
  onToggle?: (range: boolean) => void;
  actions?: () => readonly MenuEntry[];
  menuOpen: boolean;
  setMenuOpen: (open: boolean) => void;
}

export function TableRow<R>(props: TableRowProps<R>) {
  const { row, index, columns, href, onOpen, isActive, onActivate, isCurrent, isSelected, onToggle, actions } = props;
  const line = useRef<HTMLTableRowElement>(null);
  const onClick = (event: MouseEvent) => {
    onActivate();
    if (event.defaultPrevented || !onOpen || isControl(event.target)) return;
    if (event.metaKey || event.ctrlKey) return href && window.open(href, '_blank', 'noopener');
    if (event.shiftKey && onToggle) return onToggle(true);
    if (window.getSelection()?.isCollapsed === false) return; // text was selected
    onOpen();
  };
  return (
    <tr
      ref={line}
      className={styles.row}
      data-index={index}
      data-current={isCurrent}
      aria-rowindex={index + 2}
      aria-selected={onToggle ? isSelected : undefined}
      tabIndex={isActive ? 0 : -1}
      onClick={onClick}
      onFocus={onActivate}
    >
      {onToggle && (
        <td className={styles.check}>
          <div onClick={(event) => event.shiftKey && (event.preventDefault(), onToggle(true))}>
            <Checkbox label="Select row" hideLabel checked={isSelected} onChange={() => onToggle(false)} />
          </div>
        </td>
      )}
      {columns.map((column, i) => (
        <td key={column.key} className={cx(column.end && styles.end, column.wide && styles.wide)}>
          {i === 0 && href !== undefined ? (
            <a
              className={styles.open}
              href={href}
              tabIndex={-1}
              onClick={(event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0 || !onOpen) return;
                event.preventDefault();
                event.stopPropagation();
                onActivate();
                onOpen();
              }}
            >
              {column.cell(row)}
            </a>
          ) : (
            column.cell(row)
          )}
          {i === 0 && props.phone !== undefined && <div className={styles.phone}>{props.phone}</div>}
        </td>
      ))}
      {actions && (
        <td className={styles.act}>
          <Menu
            trigger={<IconButton icon="more" label="Actions" keys="." tabIndex={isActive ? 0 : -1} tooltip={false} />}
            items={props.menuOpen ? actions() : []}
            align="end"
            open={props.menuOpen}
            onOpenChange={props.setMenuOpen}
            returnTo={() => line.current}
          />
        </td>
      )}
    </tr>
  );
}

function isControl(target: EventTarget): boolean {
  return target instanceof Element && target.closest('button, a, input, [role="menuitem"]') !== null;
}
