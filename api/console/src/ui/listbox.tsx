import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { Icon } from './icon';
import styles from './float.module.css';

export interface Option<V extends string = string> {
  value: V;
  label: string;
  /** Meta text at the end, or a symbol before the label. */
  hint?: ReactNode;
  symbol?: ReactNode;
  disabled?: boolean;
}

/** useListbox is the keyboard of a list whose focus stays in its combobox (WAI-ARIA's pattern of that name). */
export function useListbox<V extends string>(options: readonly Option<V>[], choose: (option: Option<V>) => void) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const at = open && active < options.length ? active : -1;

  const show = (index: number) => {
    setOpen(true);
    setActive(index);
  };
  const move = (by: 1 | -1, from: number) => {
    for (let i = from; i >= 0 && i < options.length; i += by) {
      if (options[i]?.disabled !== true) return setActive(i);
    }
  };
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!open) return false;
    switch (event.key) {
      case 'ArrowDown':
        move(1, at + 1);
        break;
      case 'ArrowUp':
        move(-1, at - 1);
        break;
      case 'Home':
        move(1, 0);
        break;
      case 'End':
        move(-1, options.length - 1);
        break;
      case 'Enter': {
        const option = options[at];
        if (option === undefined || option.disabled) return false;
        choose(option);
        break;
      }
      case 'Escape':
        setOpen(false);
        event.stopPropagation();
        break;
      case 'Tab':
        setOpen(false);
        return true;
      default:
        return false;
    }
    event.preventDefault();
    return true;
  };
  return {
    open,
    setOpen,
    active: at,
    setActive,
    show,
    onKeyDown,
    list: { id, options, active: at, setActive, choose },
    combobox: {
      role: 'combobox' as const,
      'aria-haspopup': 'listbox' as const,
      'aria-expanded': open,
      'aria-controls': open ? id : undefined,
      'aria-activedescendant': at >= 0 ? `${id}-${at}` : undefined,
    },
  };
}

export interface ListboxProps<V extends string> {
  id: string;
  options: readonly Option<V>[];
  active: number;
  setActive: (index: number) => void;
  choose: (option: Option<V>) => void;
  isSelected: (value: V) => boolean;
  label: string;
  empty?: ReactNode;
  multiple?: boolean;
}

export function Listbox<V extends string>(props: ListboxProps<V>) {
  const { id, options, active, setActive, choose, isSelected, label, empty, multiple } = props;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[data-active="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  if (options.length === 0 && empty) return <div className={styles.empty}>{empty}</div>;
  return (
    <div
      className={styles.list}
      role="listbox"
      id={id}
      aria-label={label}
      aria-multiselectable={multiple}
      ref={list}
      onMouseDown={(event) => event.preventDefault()} // the focus stays in the combobox
    >
      {options.map((option, i) => (
        <div
          key={option.value}
          id={`${id}-${i}`}
          role="option"
          aria-selected={isSelected(option.value)}
          aria-disabled={option.disabled}
          data-active={i === active}
          className={styles.item}
          onPointerMove={() => active !== i && setActive(i)}
          onClick={() => option.disabled !== true && choose(option)}
        >
          {option.symbol}
          <span className={styles.text}>{option.label}</span>
          {option.hint !== undefined && <span className={styles.hint}>{option.hint}</span>}
          {isSelected(option.value) && <Icon name="check" />}
        </div>
      ))}
    </div>
  );
}

