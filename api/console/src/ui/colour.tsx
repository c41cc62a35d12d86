import { Input } from './field';
import styles from './colour.module.css';

/** ColourInput is a colour as text and as a picker. shown is what the picker shows: it knows six digits only. */
export function ColourInput({ value, shown, pick, onChange }: {
  value: string;
  shown: string;
  /** The name of the picker. */
  pick: string;
  onChange: (value: string) => void;
}) {
  return (
    <Input
      mono
      autoComplete="off"
      spellCheck={false}
      maxLength={7}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      after={
        <input
          type="color"
          className={styles.pick}
          aria-label={pick}
          value={shown}
          onChange={(event) => onChange(event.target.value)}
        />
      }
    />
  );
}
