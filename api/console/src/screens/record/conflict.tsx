import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import type { Editing } from './editing';
import { t } from './messages';
import styles from './record.module.css';

/** Conflict shows both versions of a field that two people changed, and lets the person choose. */
export function Conflict<T extends Record<string, unknown>>({ editing, names, show }: {
  editing: Editing<T>;
  names: Readonly<Record<string, string>>;
  /** show returns the text of a value of a field, such as the name of an owner. */
  show?: (field: string, value: unknown) => string | undefined;
}) {
  const { conflict, settle } = editing;
  if (conflict === null) return null;
  const text = (field: string, value: unknown) => show?.(field, value) ?? plain(value);
  return (
    <Dialog
      open
      onClose={() => settle(false)}
      title={t('conflict')}
      intro={t('conflictIntro')}
      keep
      foot={
        <>
          <Button onClick={() => settle(false)}>{t('keepTheirs')}</Button>
          <Button kind="primary" onClick={() => settle(true)}>
            {t('keepMine')}
          </Button>
        </>
      }
    >
      <table className={styles.versions}>
        <thead>
          <tr>
            <th scope="col">{t('field')}</th>
            <th scope="col">{t('theirs')}</th>
            <th scope="col">{t('mine')}</th>
          </tr>
        </thead>
        <tbody>
          {conflict.conflicts.map((field) => (
            <tr key={field}>
              <th scope="row">{names[field] ?? field}</th>
              <td>{text(field, conflict.theirs.data[field])}</td>
              <td>{text(field, conflict.mine[field])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}

function plain(value: unknown): string {
  if (value === null || value === undefined || value === '') return t('none');
  if (Array.isArray(value)) return value.length === 0 ? t('none') : value.join(', ');
  if (typeof value === 'object') return Object.entries(value).map(([key, one]) => `${key}: ${plain(one)}`).join(', ');
  return String(value);
}
