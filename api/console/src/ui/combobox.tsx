import { useRef, useState, type KeyboardEvent } from 'react';
import { useFieldProps } from './field';
import { Icon } from './icon';
import { later } from './later';
import { Listbox, useListbox, type Option } from './listbox';
import { cx } from './cx';
import field from './field.module.css';
import styles from './select.module.css';

const ListPopup = later(() => import('./listpopup').then((m) => m.ListPopup));

export interface ComboboxProps<V extends string> {
  label: string;
  /** All options, or, with onQuery, those that the server found. */
  options: readonly Option<V>[];
  /** Chosen options with their labels: one of them, or several with multiple. */
  value: readonly Option<V>[];
  onChange: (value: Option<V>[]) => void;
  multiple?: boolean;
  placeholder?: string;
  /** Called with what is typed; the caller waits and fetches. Without it the options are filtered here. */
  onQuery?: (text: string) => void;
  /** Offers to make what is typed, for example a new tag. */
  onCreate?: (text: string) => void;
  loading?: boolean;
}

/** Combobox finds one or several options by typing. Backspace in the empty field takes the last one back. */
export function Combobox<V extends string>(props: ComboboxProps<V>) {
  const { label, options, value, onChange, multiple = false, placeholder, onQuery, onCreate, loading } = props;
  const ids = useFieldProps();
  const root = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found: Option<V>[] = onQuery
    ? [...options]
    : options.filter((option) => option.label.toLowerCase().includes(wanted));
  const isNew = onCreate && wanted !== '' && !options.some((option) => option.label.toLowerCase() === wanted);
  const shown = isNew ? [...found, { value: '\0new' as V, label: `Create “${text.trim()}”` }] : found;

  const type = (next: string) => {
    setText(next);
    onQuery?.(next);
    box.show(0);
  };
  const box = useListbox(shown, (option) => {
    if (option.value === '\0new') onCreate?.(text.trim());
    else if (!multiple) onChange([option]);
    else if (isSelected(option.value)) onChange(value.filter((v) => v.value !== option.value));
    else onChange([...value, option]);
    setText('');
    onQuery?.('');
    if (!multiple) box.setOpen(false);
  });
  const isSelected = (v: V) => value.some((option) => option.value === v);
  const remove = (v: V) => {
    onChange(value.filter((option) => option.value !== v));
    input.current?.focus();
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (box.onKeyDown(event)) return;
    const last = value.at(-1);
    if (event.key === 'Backspace' && text === '' && last !== undefined) remove(last.value);
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      box.show(0);
    }
  };

  return (
    <>
      <div
        ref={root}
        className={cx(field.input, styles.chips)}
        onClick={() => {
          input.current?.focus();
          if (!box.open) box.show(-1);
        }}
      >
        {value.map((option) => (
          <span key={option.value} className={styles.chip}>
            {option.symbol}
            {option.label}
            <button
              type="button"
              className={styles.remove}
              aria-label={`Remove ${option.label}`}
              onClick={(event) => {
                event.stopPropagation();
                remove(option.value);
              }}
            >
              <Icon name="close" size={12} />
            </button>
          </span>
        ))}
        <input
          ref={input}
          {...ids}
          {...box.combobox}
          aria-autocomplete="list"
          aria-label={ids.id ? undefined : label}
          autoComplete="off"
          spellCheck={false}
          value={text}
          placeholder={value.length === 0 ? placeholder : undefined}
          onChange={(event) => type(event.target.value)}
          onKeyDown={onKeyDown}
          onBlur={() => setText('')}
        />
      </div>
      {box.open && (
        <ListPopup anchor={root} setOpen={box.setOpen}>
          <Listbox
            {...box.list}
            label={label}
            multiple={multiple}
            isSelected={isSelected}
            empty={loading ? 'Searching' : 'Nothing found'}
          />
        </ListPopup>
      )}
    </>
  );
}
