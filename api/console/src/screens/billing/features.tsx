import { cx } from '@/ui/cx';
import { Icon } from '@/ui/icon';
import { t } from './messages';
import { type Catalog, type Plan, differences } from './plans';
import styles from './billing.module.css';

const icons = { more: 'plus', less: 'minus', same: 'check' } as const;

/** FeatureList says in words what a plan has, and what is more or less than in the plan from. */
export function FeatureList({
  catalog,
  from,
  to,
  onlyMore,
  first,
}: {
  catalog: Catalog;
  from: Plan | undefined;
  to: Plan;
  /** Leaves out what is the same or less. */
  onlyMore?: boolean;
  /** The feature to begin with. */
  first?: string;
}) {
  const rows = differences(catalog, from, to)
    .filter(({ kind }) => !onlyMore || kind === 'more')
    .sort((a, b) => Number(b.key === first) - Number(a.key === first));
  return (
    <ul className={styles.features}>
      {rows.map(({ key, kind, text, instead }) => (
        <li key={key} className={cx(styles.feature, styles[kind])}>
          <Icon name={icons[kind]} size={14} />
          <span>
            {kind !== 'same' && <span className="visually-hidden">{t(kind)}: </span>}
            {text}
            {instead !== undefined && <span className={styles.instead}> {t('instead', { value: instead })}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}
