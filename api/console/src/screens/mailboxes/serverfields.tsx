import { Field, Input } from '@/ui/field';
import { Select } from '@/ui/select';
import styles from '../mail/mail.module.css';
import { t } from './messages';
import type { Security, ServerDraft } from './server';

const securities: readonly { value: Security; label: string }[] = [
  { value: 'tls', label: t('tls') },
  { value: 'starttls', label: t('starttls') },
  { value: 'none', label: t('noTls') },
];

/** ServerFields are the fields of an SMTP or IMAP server, whose values are below pointer in the request. */
export function ServerFields({ legend, pointer, value, onChange, stored = false }: {
  legend: string;
  pointer: '/smtp' | '/imap';
  value: ServerDraft;
  onChange: (next: ServerDraft) => void;
  /** A password is stored, and kept if none is typed. */
  stored?: boolean;
}) {
  return (
    <fieldset className={styles.stack}>
      <legend className={styles.legend}>{legend}</legend>
      <div className={styles.triple}>
        <Field label={t('host')} pointer={`${pointer}/host`}>
          <Input
            mono
            autoComplete="off"
            spellCheck={false}
            placeholder={pointer === '/smtp' ? 'smtp.example.com' : 'imap.example.com'}
            value={value.host}
            onChange={(event) => onChange({ ...value, host: event.target.value })}
          />
        </Field>
        <Field label={t('port')} pointer={`${pointer}/port`}>
          <Input
            inputMode="numeric"
            className="num"
            value={value.port}
            onChange={(event) => onChange({ ...value, port: event.target.value })}
          />
        </Field>
        <Field label={t('security')} pointer={`${pointer}/tls`}>
          <Select
            label={t('security')}
            options={securities}
            value={value.tls}
            onChange={(tls) => onChange({ ...value, tls })}
          />
        </Field>
      </div>
      <div className={styles.pair}>
        <Field label={t('username')} pointer={`${pointer}/username`}>
          <Input
            autoComplete="off"
            spellCheck={false}
            value={value.username}
            onChange={(event) => onChange({ ...value, username: event.target.value })}
          />
        </Field>
        <Field
          label={t('password')}
          pointer={`${pointer}/password`}
          help={stored ? t('passwordKept') : t('passwordHelp')}
        >
          <Input
            type="password"
            autoComplete="new-password"
            value={value.password}
            onChange={(event) => onChange({ ...value, password: event.target.value })}
          />
        </Field>
      </div>
    </fieldset>
  );
}
