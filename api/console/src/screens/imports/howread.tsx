import { Card } from '@/ui/page';
import { t } from './messages';
import { reasonWord, type Import } from './words';
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
