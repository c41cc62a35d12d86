import { formatPercent } from '@/lib/intl';
import { Card } from '@/ui/page';
import { label } from '../record/label';
import { t } from './messages';
import type { Model } from './model';
import { signed, strongest } from './weights';
import styles from './ai.module.css';

const shown = 14;

/** Reasons shows what moves scores the most, and in which direction. */
export function Reasons({ model }: { model: Model }) {
  const weights = strongest(model.features, shown);
  if (weights.length === 0) return null;
  return (
    <Card title={t('reasons')}>
      <div className={styles.stack}>
        <table className={styles.table} aria-label={t('reasons')}>
          <tbody>
            {weights.map(({ feature, value, weight, share }) => (
              <tr key={`${feature} ${value}`}>
                <th scope="row">
                  {featureWord(feature)} <span className="meta">{valueWord(value)}</span>
                </th>
                <td className={styles.bars} aria-hidden="true">
                  <span className={weight < 0 ? styles.down : styles.up} style={{ width: `${share * 100}%` }} />
                </td>
                <td className="num">
                  {signed(weight)} <span className="visually-hidden">{weight < 0 ? t('lowers') : t('raises')}</span>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <p className="meta">{t('reasonsText', { count: model.features.length })}</p>
      </div>
    </Card>
  );
}

/** Quarantined names what is left out of the model. */
export function Quarantined({ model }: { model: Model }) {
  if (model.quarantined.length === 0) return null;
  return (
    <Card title={t('quarantined')}>
      <ul className={styles.stack}>
        {model.quarantined.map(({ feature, reason, edited }) => (
          <li key={feature}>
            {reason === 'tells_outcome'
              ? t('tells_outcome', { feature: featureWord(feature) })
              : t('edited_near_outcome', { feature: featureWord(feature), share: formatPercent(edited) })}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function featureWord(feature: string): string {
  return label(feature.replace(/^attributes\./, ''));
}

function valueWord(value: string): string {
  if (value === '*') return t('any');
  return value === 'other' ? t('otherValue') : label(value);
}
