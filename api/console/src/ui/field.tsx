import { createContext, useContext, useId, type ComponentProps, type ReactNode } from 'react';
import { useFieldError } from './form';
import { Icon, type IconName } from './icon';
import { cx } from './cx';
import styles from './field.module.css';

interface Ids {
  id: string;
  describedBy: string | undefined;
  invalid: boolean;
}

const FieldContext = createContext<Ids | null>(null);

/** useFieldProps returns the attributes that connect a control to the label, help and error of its Field. */
export function useFieldProps(): { id?: string; 'aria-describedby'?: string; 'aria-invalid'?: true } {
  const field = useContext(FieldContext);
  if (field === null) return {};
  return {
    id: field.id,
    ...(field.describedBy && { 'aria-describedby': field.describedBy }),
    ...(field.invalid && { 'aria-invalid': true as const }),
  };
}

export interface FieldProps {
  label: ReactNode;
  children: ReactNode;
  help?: ReactNode;
  /** The JSON pointer of the value in the request, such as "/url": finds the error in the Form's problem. */
  pointer?: string;
  /** An error that the page found itself. */
  error?: string | undefined;
  optional?: boolean;
  /** For a label that is needed by screen readers only. */
  hideLabel?: boolean;
}

/** Field is one control with its label above, help below and error in place. */
export function Field({ label, children, help, pointer, error, optional, hideLabel }: FieldProps) {
  const own = useId();
  const fromServer = useFieldError(pointer);
  const message = error ?? fromServer?.detail;
  const id = fromServer?.id ?? own;
  const describedBy = [message && `${id}-error`, help && `${id}-help`].filter(Boolean).join(' ') || undefined;
  return (
    <div className={styles.field}>
      <label className={hideLabel ? 'visually-hidden' : styles.label} htmlFor={id}>
        <span>{label}</span>
        {optional && <span className={styles.optional}>Optional</span>}
      </label>
      <FieldContext value={{ id, describedBy, invalid: message !== undefined }}>{children}</FieldContext>
      {message !== undefined && (
        <p className={styles.error} id={`${id}-error`}>
          <Icon name="error" />
          {message}
        </p>
      )}
      {help && (
        <p className={styles.help} id={`${id}-help`}>
          {help}
        </p>
      )}
    </div>
  );
}

export interface InputProps extends ComponentProps<'input'> {
  icon?: IconName;
  /** A control at the end, such as a copy button. */
  after?: ReactNode;
  mono?: boolean;
}

export function Input({ icon, after, mono, className, ...rest }: InputProps) {
  const field = useFieldProps();
  const input = <input {...field} {...rest} className={cx(styles.input, mono && styles.mono, className)} />;
  if (!icon && !after) return input;
  return (
    <span className={styles.group}>
      {icon && (
        <span className={styles.before}>
          <Icon name={icon} />
        </span>
      )}
      {input}
      {after && <span className={styles.after}>{after}</span>}
    </span>
  );
}

export function Textarea({ mono, className, ...rest }: ComponentProps<'textarea'> & { mono?: boolean }) {
  const field = useFieldProps();
  return <textarea {...field} {...rest} className={cx(styles.input, mono && styles.mono, className)} />;
}
