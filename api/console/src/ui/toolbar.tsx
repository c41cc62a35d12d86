import type { ReactNode, Ref } from 'react';
import { Button } from './button';
import { formatEstimate } from './estimate';
import { Icon } from './icon';
import { KeyHint } from './keyhint';
import styles from './page.module.css';

/** Toolbar stands below the head of a list: search, filter chips, sort, view. */
export function Toolbar({ children, label = 'View' }: { children: ReactNode; label?: string }) {
  return (
    <div className={styles.toolbar} role="toolbar" aria-label={label}>
      {children}
    </div>
  );
}

/** Gap pushes what follows it to the end of a Toolbar. */
export function Gap() {
  return <span className={styles.grow} />;
}

/** SearchInput filters the list below it. Esc clears it; the page's "/" focuses it through ref. */
export function SearchInput({ label, value, onChange, ref }: {
  label: string;
  value: string;
  onChange: (text: string) => void;
  ref?: Ref<HTMLInputElement>;
}) {
  return (
    <span className={styles.search}>
      <Icon name="search" />
      <input
        ref={ref}
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          if (value === '') event.currentTarget.blur();
          else onChange('');
        }}
      />
    </span>
  );
}

/** Chip is one active filter: its name, operator and value. A click changes it, the cross removes it. */
export function Chip({ name, operator = 'is', value, onEdit, onRemove, ref, ...rest }: {
  name: string;
  operator?: string;
  value: ReactNode;
  onEdit?: () => void;
  onRemove: () => void;
  ref?: Ref<HTMLButtonElement>;
}) {
  return (
    <span className={styles.chip}>
      <button type="button" ref={ref} onClick={onEdit} {...rest}>
        <span className={styles.name}>
          {name} {operator}
        </span>{' '}
        <b>{value}</b>
      </button>
      <button type="button" className={styles.x} aria-label={`Remove the filter ${name}`} onClick={onRemove}>
        <Icon name="close" size={12} />
      </button>
    </span>
  );
}

/** BulkBar appears while rows are selected. Its children are small buttons. */
export function BulkBar({ count, total, onAll, onClear, children }: {
  count: number;
  /** How many rows match the filter, where all of them can be selected. */
  total?: number;
  onAll?: () => void;
  onClear: () => void;
  children: ReactNode;
}) {
  if (count === 0) return null;
  return (
    <div className={styles.bulk} role="toolbar" aria-label="Selected rows">
      <span className={styles.bulkCount} aria-live="polite">
        {formatEstimate(count)} selected
      </span>
      {total !== undefined && onAll && total > count && (
        <Button kind="quiet" size="small" onClick={onAll}>
          {`Select all ${formatEstimate(total)}`}
        </Button>
      )}
      <span className={styles.rule} />
      {children}
      <span className={styles.rule} />
      <Button kind="quiet" size="small" onClick={onClear}>
        Clear <KeyHint keys="esc" />
      </Button>
    </div>
  );
}
