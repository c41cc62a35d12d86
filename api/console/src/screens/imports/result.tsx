import { formatNumber } from '@/lib/intl';
import { t } from './messages';
import type { Import } from './words';
import styles from './imports.module.css';

/** Result has the numbers of an import: what it did, or for a check what it would do. */
export function Result({ one }: { one: Import }) {
  const figures = [
    [t('wouldCreate'), one.rows_created],
    [t('wouldUpdate'), one.rows_updated],
    [t('wouldKeep'), one.rows_unchanged],
    [t('refused'), one.rows_failed],
    ...(one.rows_blank > 0 ? [[t('blank'), one.rows_blank] as const] : []),
    ...(one.rows_repeated > 0 ? [[t('repeated'), one.rows_repeated] as const] : []),
  ] as const;
  return (
    <dl className={styles.figures}>
      {figures.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd className="num">{formatNumber(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
