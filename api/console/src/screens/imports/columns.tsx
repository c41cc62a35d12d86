import { useMemo } from 'react';
import { useRead } from '@/lib/read';
import { Button } from '@/ui/button';
import { Callout } from '@/ui/feedback';
import { Form } from '@/ui/form';
import { Select } from '@/ui/select';
import type { Head } from './csv';
import { attributeOf, faultsOf, type Target, targets } from './mapping';
import { t } from './messages';
import { formatBytes, targetWord } from './words';
import styles from './imports.module.css';

const leftOut = '-';

/** Columns gives each column of the file a field of the contact. */
export function Columns({ file, head, mapping, onChange, onOther, onDone }: {
  file: File;
  head: Head;
  mapping: ReadonlyMap<string, Target>;
  onChange: (mapping: ReadonlyMap<string, Target>) => void;
  /** Chooses another file. */
  onOther: () => void;
  onDone: () => void;
}) {
  const fields = useRead('/api/v1/crm/fields', { query: { limit: 200 } });
  const custom = useMemo(() => new Map((fields.data?.data ?? []).map((one) => [one.key, one.label])), [fields.data]);
  const faults = faultsOf(mapping);
  const unnamed = head.columns.filter((column) => column === '').length;
  return (
    <Form className={styles.form} onSubmit={() => faults.length === 0 && onDone()}>
      <p className={styles.fileLine}>
        <strong>{file.name}</strong>
        <span className="meta">{formatBytes(file.size)}</span>
        <Button kind="quiet" size="small" onClick={onOther}>
          {t('otherFile')}
        </Button>
      </p>
      <table className={styles.mapping}>
        <thead>
          <tr>
            <th scope="col">{t('column')}</th>
            <th scope="col">{t('examples')}</th>
            <th scope="col">{t('becomes')}</th>
          </tr>
        </thead>
        <tbody>
          {head.columns.map(
            (column, at) =>
              column !== '' && (
                <tr key={column} data-out={mapping.get(column) === null || undefined}>
                  <th scope="row">{column}</th>
                  <td className={styles.examples}>{examplesOf(head, at)}</td>
                  <td>
                    <Select
                      label={t('fieldOf', { column })}
                      options={optionsFor(column, custom)}
                      value={mapping.get(column) ?? leftOut}
                      onChange={(to) => onChange(new Map(mapping).set(column, to === leftOut ? null : to))}
                    />
                  </td>
                </tr>
              ),
          )}
        </tbody>
      </table>
      {unnamed > 0 && <p className={styles.soft}>{t('unnamed', { count: unnamed })}</p>}
      {faults.map((fault) => (
        <Callout key={JSON.stringify(fault)} tone="warn">
          {fault === 'noEmail' ? t('noEmail') : t('twice', { field: targetWord(fault.twice, custom) })}
        </Callout>
      ))}
      <div className={styles.buttons}>
        <Button kind="primary" type="submit" disabled={faults.length > 0}>
          {t('check')}
        </Button>
        <span className={styles.soft}>{t('checkHelp')}</span>
      </div>
    </Form>
  );
}

/** The first different values of a column. */
function examplesOf(head: Head, at: number): string {
  const values = head.rows.map((row) => (row[at] ?? '').trim()).filter((value) => value !== '');
  return [...new Set(values)].slice(0, 3).join(' · ');
}

function optionsFor(column: string, custom: ReadonlyMap<string, string>) {
  const own = attributeOf(column);
  const attributes = [...custom.keys()].map((key) => `attributes.${key}`);
  const all = [...targets, ...attributes, ...(own === null || attributes.includes(own) ? [] : [own])];
  return [
    { value: leftOut, label: t('leaveOut') },
    ...all.map((value) => ({ value, label: targetWord(value, custom) })),
  ];
}
