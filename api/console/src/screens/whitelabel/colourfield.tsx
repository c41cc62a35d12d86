import { ColourInput } from '@/ui/colour';
import { Field } from '@/ui/field';
import { Status } from '@/ui/status';
import { contrast, formatRatio, parseColour } from './contrast';
import { t } from './messages';
import styles from './whitelabel.module.css';

/** ColourField is a colour as text and as a picker, with its contrast as it is typed. */
export function ColourField({ label, pointer, value, onChange, against, needed }: {
  label: string;
  pointer: string;
  value: string;
  onChange: (value: string) => void;
  /** The colour that it needs contrast with, and how much. */
  against?: string;
  needed?: number;
}) {
  const isColour = parseColour(value) !== null;
  const ratio = against === undefined ? null : contrast(value, against);
  return (
    <div>
      <Field label={label} pointer={pointer} {...(!isColour && { error: t('noColour') })}>
        <ColourInput
          value={value}
          shown={isColour ? full(value) : '#000000'}
          pick={t('pick', { name: label })}
          onChange={onChange}
        />
      </Field>
      {ratio !== null && needed !== undefined && (
        <p className={styles.ratio} aria-live="polite">
          <Status tone={ratio >= needed ? 'good' : 'bad'}>
            {t(ratio >= needed ? 'ratioGood' : 'ratioBad', { ratio: formatRatio(ratio), needed: String(needed) })}
          </Status>
        </p>
      )}
    </div>
  );
}

/** full returns a colour with six digits, as pickers need it. */
function full(colour: string): string {
  const parts = parseColour(colour) ?? [0, 0, 0];
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}
