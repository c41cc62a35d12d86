import { useRef, useState, type ReactNode } from 'react';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { Icon } from '@/ui/icon';
import { Input } from '@/ui/field';
import { Select, type Option } from '@/ui/select';
import type { Editing } from './editing';
import { t } from './messages';
import styles from './record.module.css';

type Fields = Record<string, unknown>;

/** FactList holds the facts of a record: names at the left, values that are edited in place at the right. */
export function FactList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <dl className={styles.facts} aria-label={label}>
      {children}
    </dl>
  );
}

/** Fact is one name with its value. field names what is saved, for the tick and the error. */
export function Fact<T extends Fields>({ name, field, editing, children }: {
  name: string;
  field?: string;
  editing?: Editing<T>;
  children: ReactNode;
}) {
  const state = field === undefined ? undefined : editing?.state(field);
  const error = state === 'failed' && field !== undefined ? describe(editing?.error(field)) : null;
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>
        <div className={styles.value}>
          {children}
          <span className={styles.tick} role="status">
            {state === 'saved' && (
              <>
                <Icon name="check" size={14} />
                <span className="visually-hidden">{t('saved')}</span>
              </>
            )}
          </span>
        </div>
        {error && (
          <p className={styles.error} role="alert">
            {error.errors?.[0]?.detail ?? error.detail}
            {error.request_id && <code>{error.request_id}</code>}
          </p>
        )}
      </dd>
    </div>
  );
}

/**
 * TextFact is a text that is saved when the focus leaves it. Enter saves, Escape restores. What could not be saved stays
 * in the field.
 */
export function TextFact<T extends Fields>({ name, field, editing, value, change, type = 'text', link, required }: {
  name: string;
  field: keyof T & string;
  editing: Editing<T>;
  value: string;
  /** The changes that a new text makes; null stands for an empty text. */
  change: (text: string | null) => Partial<T>;
  type?: 'text' | 'email' | 'tel' | 'url' | 'number' | 'date';
  /** Leads somewhere, such as mailto:. */
  link?: string | undefined;
  required?: boolean;
}) {
  const [draft, setDraft] = useState<string | null>(null);
  const base = useRef<Answer<T>>(undefined);
  const givenUp = useRef(false);
  const leave = async () => {
    if (draft === null || givenUp.current) return;
    const text = draft.trim();
    if (text === value || (required && text === '')) return setDraft(null);
    if (await editing.save(change(text === '' ? null : text), base.current)) setDraft(null);
  };
  if (!editing.may) {
    return (
      <Fact name={name}>
        <span className={styles.text}>{value === '' ? <Nothing /> : link ? <a href={link}>{value}</a> : value}</span>
      </Fact>
    );
  }
  return (
    <Fact name={name} field={field} editing={editing}>
      <Input
        className={styles.quiet}
        aria-label={name}
        aria-invalid={editing.state(field) === 'failed' || undefined}
        type={type}
        autoComplete="off"
        spellCheck={false}
        placeholder={t('none')}
        value={draft ?? value}
        onFocus={() => {
          givenUp.current = false;
          if (draft === null) base.current = editing.answer;
        }}
        onChange={(event) => setDraft(event.target.value)}
        onBlur={() => void leave()}
        onKeyDown={(event) => {
          if (event.key === 'Enter') event.currentTarget.blur();
          if (event.key !== 'Escape') return;
          event.stopPropagation();
          givenUp.current = true;
          setDraft(null);
          editing.forget(field);
          event.currentTarget.blur();
        }}
      />
      {link && draft === null && (
        <a className={styles.follow} href={link} aria-label={`${name}: ${value}`}>
          <Icon name={type === 'email' ? 'mail' : type === 'tel' ? 'phone' : 'external'} size={14} />
        </a>
      )}
    </Fact>
  );
}

/** SelectFact is a choice that is saved at once. */
export function SelectFact<T extends Fields>({ name, field, editing, value, options, change, none }: {
  name: string;
  field: keyof T & string;
  editing: Editing<T>;
  value: string | null;
  options: readonly Option[];
  change: (value: string | null) => Partial<T>;
  /** The label of choosing nothing, where that is possible. */
  none?: string;
}) {
  const all = [
    ...(none === undefined ? [] : [{ value: '', label: none }]),
    ...(value !== null && value !== '' && !options.some((option) => option.value === value)
      ? [{ value, label: value }]
      : []),
    ...options,
  ];
  const chosen = all.find((option) => option.value === (value ?? ''));
  if (!editing.may) {
    return (
      <Fact name={name}>
        <span className={styles.text}>{chosen?.label ?? <Nothing />}</span>
      </Fact>
    );
  }
  return (
    <Fact name={name} field={field} editing={editing}>
      <div className={styles.select}>
        <Select
          label={name}
          size="small"
          options={all}
          value={value ?? ''}
          placeholder={none ?? t('unset')}
          onChange={(next) => void editing.save(change(next === '' ? null : next))}
        />
      </div>
    </Fact>
  );
}

/** Nothing stands for a value that there is none of. */
export function Nothing() {
  return <span className={styles.nothing}>{t('none')}</span>;
}
