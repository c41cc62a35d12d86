import { useState } from 'react';
import { messages } from '@/lib/messages';
import { Checkbox } from '@/ui/checkbox';
import { Input } from '@/ui/field';
import type { Option } from '@/ui/select';
import styles from './optionlist.module.css';

const t = messages({ find: 'Find', nothing: 'Nothing found' });

const findFrom = 9; // options, from which on a field finds them

/** OptionList is a list to tick some, or one, of many options. It belongs in a popover. */
export function OptionList({ label, options, value, onChange, single }: {
  label: string;
  options: readonly Option[];
  value: readonly string[];
  onChange: (value: string[]) => void;
  single?: boolean;
}) {
  const [text, setText] = useState('');
  const unknown = value.filter((one) => !options.some((option) => option.value === one));
  const all = [...unknown.map((one): Option => ({ value: one, label: one })), ...options];
  const found = all.filter((option) => option.label.toLowerCase().includes(text.trim().toLowerCase()));
  const set = (option: string, on: boolean) => {
    if (single) onChange(on ? [option] : []);
    else onChange(on ? [...value, option] : value.filter((one) => one !== option));
  };
  return (
    <div className={styles.list}>
      {all.length >= findFrom && (
        <Input aria-label={t('find')} placeholder={t('find')} value={text} onChange={(e) => setText(e.target.value)} />
      )}
      <div className={styles.options} role="group" aria-label={label}>
        {found.map((option) => (
          <div key={option.value} className={styles.option}>
            <Checkbox
              label={option.label}
              checked={value.includes(option.value)}
              onChange={(on) => set(option.value, on)}
            />
            {option.hint !== undefined && <span className="meta num">{option.hint}</span>}
          </div>
        ))}
        {found.length === 0 && <p className="meta">{t('nothing')}</p>}
      </div>
    </div>
  );
}
