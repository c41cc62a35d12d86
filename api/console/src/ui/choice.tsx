import { RadioGroup, Switch as SwitchPrimitive } from 'radix-ui';
import { useId, type ReactNode } from 'react';
import { Labelled, type ChoiceProps } from './checkbox';
import styles from './choice.module.css';

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
