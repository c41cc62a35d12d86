import { useId, type ReactNode } from 'react';
import { Icon } from './icon';
import styles from './choice.module.css';

export interface ChoiceProps {
  label: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  help?: ReactNode;
  disabled?: boolean;
}

/**
 * Checkbox takes effect when its form is saved. mixed is for a head over some selected rows. It is a plain button with
 * the role: every row of a table has one.
 */
export function Checkbox({ label, checked, mixed = false, onChange, help, disabled, hideLabel }: ChoiceProps & {
  mixed?: boolean;
  hideLabel?: boolean;
}) {
  const id = useId();
  const box = (
    <button
      type="button"
      role="checkbox"
      id={id}
      className={styles.box}
      aria-checked={mixed ? 'mixed' : checked}
      onClick={() => onChange(mixed || !checked)}
      onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()} // Space alone toggles it
      disabled={disabled === true}
      aria-label={hideLabel && typeof label === 'string' ? label : undefined}
      aria-describedby={help ? `${id}-help` : undefined}
    >
      {(checked || mixed) && <Icon name={mixed ? 'minus' : 'check'} size={12} />}
    </button>
  );
  if (hideLabel) return box;
  return <Labelled id={id} control={box} label={label} help={help} />;
}

/** Labelled shows the label and the help of a control beside it. */
export function Labelled({ id, control, label, help }: {
  id: string;
  control: ReactNode;
  label: ReactNode;
  help: ReactNode;
}) {
  return (
    <div className={styles.choice}>
      {control}
      <label htmlFor={id}>{label}</label>
      {help && (
        <p className={styles.help} id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}
