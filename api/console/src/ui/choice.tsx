import { Checkbox as CheckboxPrimitive, RadioGroup, Switch as SwitchPrimitive } from 'radix-ui';
import { useId, type ReactNode } from 'react';
import { Icon } from './icon';
import styles from './choice.module.css';

interface ChoiceProps {
  label: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  help?: ReactNode;
  disabled?: boolean;
}

/** Checkbox takes effect when its form is saved. mixed is for a head over some selected rows. */
export function Checkbox({ label, checked, mixed, onChange, help, disabled, hideLabel }: ChoiceProps & {
  mixed?: boolean;
  hideLabel?: boolean;
}) {
  const id = useId();
  const box = (
    <CheckboxPrimitive.Root
      id={id}
      className={styles.box}
      checked={mixed ? 'indeterminate' : checked}
      onCheckedChange={(value) => onChange(value === true)}
      disabled={disabled === true}
      aria-label={hideLabel && typeof label === 'string' ? label : undefined}
      aria-describedby={help ? `${id}-help` : undefined}
    >
      <CheckboxPrimitive.Indicator asChild>
        <span>
          <Icon name={mixed ? 'minus' : 'check'} size={12} />
        </span>
      </CheckboxPrimitive.Indicator>
    </CheckboxPrimitive.Root>
  );
  if (hideLabel) return box;
  return <Labelled id={id} control={box} label={label} help={help} />;
}

/** Switch takes effect at once. */
export function Switch({ label, checked, onChange, help, disabled }: ChoiceProps) {
  const id = useId();
  const control = (
    <SwitchPrimitive.Root
      id={id}
      className={styles.switch}
      checked={checked}
      onCheckedChange={onChange}
      disabled={disabled === true}
      aria-describedby={help ? `${id}-help` : undefined}
    >
      <SwitchPrimitive.Thumb className={styles.knob} />
    </SwitchPrimitive.Root>
  );
  return <Labelled id={id} control={control} label={label} help={help} />;
}

function Labelled({ id, control, label, help }: { id: string; control: ReactNode; label: ReactNode; help: ReactNode }) {
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

export interface RadioCard<V extends string> {
  value: V;
  label: ReactNode;
  help?: ReactNode;
  disabled?: boolean;
}

/** RadioCards is a choice of one among two to six, each with a sentence. */
export function RadioCards<V extends string>({ label, value, options, onChange }: {
  label: string;
  value: V;
  options: readonly RadioCard<V>[];
  onChange: (value: V) => void;
}) {
  return (
    <RadioGroup.Root
      className={styles.cards}
      aria-label={label}
      value={value}
      onValueChange={(next) => onChange(next as V)}
    >
      {options.map((option) => (
        <RadioGroup.Item
          key={option.value}
          className={styles.card}
          value={option.value}
          disabled={option.disabled === true}
        >
          <span className={styles.title}>{option.label}</span>
          <span className={styles.dot} />
          {option.help && <span className={styles.help}>{option.help}</span>}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}

/** Segments is a choice of one among two to four that takes effect at once, such as a period of a chart. */
export function Segments<V extends string>({ label, value, options, onChange }: {
  label: string;
  value: V;
  options: readonly { value: V; label: ReactNode }[];
  onChange: (value: V) => void;
}) {
  return (
    <RadioGroup.Root
      className={styles.segments}
      aria-label={label}
      value={value}
      orientation="horizontal"
      onValueChange={(next) => onChange(next as V)}
    >
      {options.map((option) => (
        <RadioGroup.Item key={option.value} className={styles.segment} value={option.value}>
          {option.label}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  );
}
