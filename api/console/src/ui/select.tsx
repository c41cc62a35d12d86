import { useRef, type KeyboardEvent } from 'react';
import { useFieldProps } from './field';
import { Icon } from './icon';
import { later } from './later';
import { Listbox, useListbox, type Option } from './listbox';
import { cx } from './cx';
import field from './field.module.css';
import styles from './select.module.css';

export type { Option } from './listbox';

export interface SelectProps<V extends string> {
  label: string;
  options: readonly Option<V>[];
  value: V | null;
  onChange: (value: V) => void;
  placeholder?: string;
  size?: 'normal' | 'small';
  disabled?: boolean;
}

const ListPopup = later(() => import('./listpopup').then((m) => m.ListPopup));

/**
 * Select is a choice of one among up to a dozen; Combobox is for more. It is not Radix's, which injects a style that
 * the security policy refuses. In a Field it takes the Field's label; label is for its list.
 */
export function Select<V extends string>(props: SelectProps<V>) {
  const { label, options, value, onChange, placeholder = 'Choose', size, disabled } = props;
  const ids = useFieldProps();
  const trigger = useRef<HTMLButtonElement>(null);
  const typed = useRef({ text: '', at: 0 });
  const box = useListbox(options, (option) => {
    onChange(option.value);
    box.setOpen(false);
  });
  const chosen = options.find((option) => option.value === value);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const now = event.timeStamp;
      typed.current = { text: (now - typed.current.at < 700 ? typed.current.text : '') + event.key.toLowerCase(), at: now };
      const found = options.findIndex((o) => !o.disabled && o.label.toLowerCase().startsWith(typed.current.text));
      if (found >= 0) box.show(found);
      event.stopPropagation();
      return;
    }
    if (box.onKeyDown(event)) return;
    if (['ArrowDown', 'ArrowUp', 'Enter', ' '].includes(event.key)) {
      event.preventDefault();
      const option = options[box.active];
      if (box.open && event.key === ' ' && option !== undefined) {
        onChange(option.value);
        box.setOpen(false);
        return;
      }
      box.show(Math.max(0, options.findIndex((o) => o.value === value)));
    }
  };

  return (
    <>
      <button
        type="button"
        ref={trigger}
        {...ids}
        {...box.combobox}
        aria-label={ids.id ? undefined : label}
        disabled={disabled}
        className={cx(field.input, styles.trigger, size === 'small' && styles.small)}
        onClick={() => (box.open ? box.setOpen(false) : box.show(options.findIndex((o) => o.value === value)))}
        onKeyDown={onKeyDown}
      >
        <span className={cx(styles.value, chosen === undefined && styles.placeholder)}>
          {chosen?.symbol}
          {chosen?.label ?? placeholder}
        </span>
        <Icon name="down" size={14} />
      </button>
      {box.open && (
        <ListPopup anchor={trigger} setOpen={box.setOpen}>
          <Listbox {...box.list} label={label} isSelected={(v) => v === value} />
        </ListPopup>
      )}
    </>
  );
}
