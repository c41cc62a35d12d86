import { formatNumber, formatPercent } from '@/lib/intl';
import type { Result } from '@/lib/operations';
import { Card, Facts } from '@/ui/page';
import { Status, type Tone } from '@/ui/status';
import { Time } from '@/ui/time';
import { t } from './messages';
import styles from './ai.module.css';

export type Model = Result<'get', '/api/v1/ai/score-model'>;

const tones: Record<Model['confidence'], Tone> = { learned: 'good', learning: 'warn', prior: 'off' };

/** InUse is the model that scores contacts now. */
export function InUse({ model }: { model: Model }) {
  const { confidence, outcomes } = model;
  const text =
    confidence === 'prior'
      ? t('priorText')
      : t(confidence === 'learning' ? 'learningText' : 'learnedText', { count: outcomes });
  return (
    <Card title={t('model')} actions={<Status tone={tones[confidence]}>{t(confidence)}</Status>}>
      <div className={styles.stack}>
        <p>
          {text} <a href="/docs/guides/scoring">{t('guide')}</a>
        </p>
        <Facts
          facts={[
            [t('version'), <code key="version">{model.version}</code>],
            ...(model.created_at === null ? [] : [[t('trainedAt'), <Time key="at" at={model.created_at} />] as const]),
            ...(outcomes === 0
              ? []
              : [[t('outcomes'), t('wonOf', { won: model.won, count: outcomes })] as const]),
          ]}
        />
      </div>
    </Card>
  );
}

/** Quality has the measures of the model on deals that it has not seen. */
export function Quality({ model }: { model: Model }) {
  const { auc, log_loss, ece, outcomes } = model.metrics;
  return (
    <Card title={t('quality')}>
      {auc === undefined || log_loss === undefined || ece === undefined ? (
        <p className={styles.soft}>{t('noQuality')}</p>
      ) : (
        <div className={styles.stack}>
          <p className={styles.soft}>
            {t('qualityText')} {outcomes !== undefined && t('onDeals', { count: outcomes })}
          </p>
          <dl className={styles.figures}>
            <Measure name={t('auc')} value={formatPercent(auc, 1)} help={t('aucHelp')} />
            <Measure name={t('ece')} value={formatPercent(ece, 1)} help={t('eceHelp')} />
            <Measure name={t('log_loss')} value={formatNumber(log_loss, { maximumFractionDigits: 3 })} help={t('lossHelp')} />
          </dl>
          <Reliability model={model} />
        </div>
      )}
    </Card>
  );
}

function Measure({ name, value, help }: { name: string; value: string; help: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="num">{value}</dd>
      <dd className="meta">{help}</dd>
    </div>
  );
}

function Reliability({ model }: { model: Model }) {
  const bins = model.reliability.filter(({ count }) => count > 0);
  if (bins.length === 0) return null;
  return (
    <div>
      <table className={styles.table} aria-label={t('reliability')}>
        <thead>
          <tr>
            <th scope="col">{t('predicted')}</th>
            <th scope="col" aria-hidden="true" />
            <th scope="col">{t('actual')}</th>
            <th scope="col">{t('deals')}</th>
          </tr>
        </thead>
        <tbody>
          {bins.map(({ from, said, seen, count }) => (
            <tr key={from}>
              <th scope="row" className="num">
                {formatPercent(said)}
              </th>
              <td className={styles.bars} aria-hidden="true">
                <span className={styles.said} style={{ width: `${said * 100}%` }} />
                <span className={styles.seen} style={{ width: `${seen * 100}%` }} />
              </td>
              <td className="num">{formatPercent(seen)}</td>
              <td className="num">{formatNumber(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="meta">{t('reliabilityText')}</p>
    </div>
  );
}
