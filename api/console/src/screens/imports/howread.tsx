import { useRead } from '@/lib/read';
import { Card } from '@/ui/page';
import { t } from './messages';
import { reasonWord, targetWord, typeWord, type Import } from './words';
import styles from './imports.module.css';

/** LeftOut lists the columns that have values and are not imported, with the reasons. */
export function LeftOut({ one }: { one: Import }) {
  if (one.left_out.length === 0) return null;
  return (
    <Card title={t('leftOutTitle')}>
      <dl className={styles.facts}>
        {one.left_out.map(({ column, reason }) => (
          <div key={column}>
            <dt>{column}</dt>
            <dd>{reasonWord(reason)}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

/** ReadAs says how the file was read. */
export function ReadAs({ one }: { one: Import }) {
  if (one.encoding === null || one.delimiter === null || one.header_line === null) return null;
  const facts = [
    [t('encodingFact'), one.encoding],
    [t('delimiterFact'), one.delimiter === '\t' ? t('tab') : one.delimiter],
    [t('headerFact'), String(one.header_line)],
  ] as const;
  return (
    <Card title={t('readAs')}>
      <dl className={styles.facts}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

/** Mapping lists the columns of the file with their fields. */
export function Mapping({ one }: { one: Import }) {
  const fields = useRead('/api/v1/crm/fields', { query: { limit: 200 } });
  const custom = new Map((fields.data?.data ?? []).map((field) => [field.key, field.label]));
  const columns = Object.entries(one.mapping).filter(([column]) => column !== '');
  if (columns.length === 0) return null;
  return (
    <Card title={t('mapping')}>
      <dl className={styles.facts}>
        {columns.map(([column, target]) => (
          <div key={column}>
            <dt>{column}</dt>
            <dd>{targetOf(target, one.types[column], custom)}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

/** targetOf names the field of a column, and the type of a custom one. */
function targetOf(target: string | null, type: string | undefined, custom: ReadonlyMap<string, string>): string {
  if (target === null) return t('ignoredColumn');
  const field = targetWord(target, custom);
  return type === undefined ? field : t('typed', { field, type: typeWord(type) });
}
