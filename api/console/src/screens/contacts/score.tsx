import { useNavigate, useParams } from '@tanstack/react-router';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { formatNumber, formatPercent } from '@/lib/intl';
import type { Result } from '@/lib/operations';
import { useRead } from '@/lib/read';
import { IconButton } from '@/ui/button';
import { cx } from '@/ui/cx';
import { Skeleton } from '@/ui/feedback';
import { PageHead } from '@/ui/page';
import { Status, type Tone } from '@/ui/status';
import { label } from '../record/label';
import { nameOf } from '../record/types';
import { contactTarget } from './facts';
import { t } from './messages';
import { fallsOf, signed, type Fall } from './waterfall';
import styles from './contacts.module.css';

type Score = Result<'get', '/api/v1/crm/contacts/{id}/score'>;

/** ScorePage explains a lead score: from the average contact to this one, reason by reason. */
export function ScorePage() {
  const { id } = useParams({ from: '/app/contacts/$id/score' });
  const contact = useRead('/api/v1/crm/contacts/{id}', contactTarget(id));
  const score = useRead('/api/v1/crm/contacts/{id}/score', { path: { id } });
  const navigate = useNavigate();
  const back = () => void navigate({ to: '/app/contacts/$id', params: { id } });
  useCommands([{ id: 'score.back', label: t('back'), keys: 'esc', keyOnly: true, run: back }]);
  const name = contact.data ? nameOf(contact.data) : '';
  return (
    <>
      <PageHead
        title={name === '' ? t('scoreTitle') : t('viewScore', { name })}
        before={<IconButton icon="left" label={name === '' ? t('back') : name} keys="esc" onClick={back} />}
      />
      {score.data === undefined ? (
        score.error === null ? (
          <Skeleton width="40%" />
        ) : (
          <Failure error={score.error} again={score.again} />
        )
      ) : (
        <div className={styles.score}>
          <Figure score={score.data} />
          <Waterfall score={score.data} />
        </div>
      )}
    </>
  );
}

const tones: Record<Score['confidence'], Tone> = { learned: 'good', learning: 'warn', prior: 'off' };

function Figure({ score }: { score: Score }) {
  const model = useRead('/api/v1/ai/score-model');
  const { outcomes = 0, won = 0 } = model.data ?? {};
  const help =
    score.confidence === 'prior'
      ? t('priorHelp')
      : score.confidence === 'learning'
        ? t('learningHelp', { count: outcomes })
        : t('learnedHelp', { count: outcomes, won });
  return (
    <div className={styles.figure}>
      <div>
        <div className="meta">{t('scoreTitle')}</div>
        <div className={cx(styles.big, 'num')}>{formatNumber(score.score, { minimumFractionDigits: 2 })}</div>
      </div>
      <div>
        <div className="meta">{t('chance')}</div>
        <div className={cx(styles.big, 'num')}>{formatPercent(score.probability)}</div>
      </div>
      <div>
        <Status tone={tones[score.confidence]}>{t(score.confidence)}</Status>
        <p className="meta">
          {(model.data !== undefined || score.confidence === 'prior') && help}{' '}
          {t('version', { version: score.model_version })}
        </p>
      </div>
    </div>
  );
}

function Waterfall({ score }: { score: Score }) {
  const { falls, sum, low, high } = fallsOf(score.reasons);
  const scale = { low, size: Math.max(high, 100) - low };
  return (
    <table className={styles.falls} aria-label={t('waterfall')}>
      <thead>
        <tr>
          <th scope="col" className={styles.reason}>
            {t('reason')}
          </th>
          <th scope="col">
            <span className="visually-hidden">{t('waterfall')}</span>
          </th>
          <th scope="col" className={styles.points}>
            {t('points')}
          </th>
        </tr>
      </thead>
      <tbody>
        {falls.map((fall, at) => (
          <tr key={at}>
            <th scope="row">{reasonOf(fall)}</th>
            <td>
              <Bar from={fall.from} to={fall.to} scale={scale} look={lookOf(fall)} />
            </td>
            <td className={cx(styles.points, 'num')}>{signed(fall.points)}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">{t('total')}</th>
          <td>
            <Bar from={0} to={sum} scale={scale} look="whole" />
          </td>
          <td className={cx(styles.points, 'num')}>{sum.toFixed(2)}</td>
        </tr>
      </tfoot>
    </table>
  );
}

type Look = 'up' | 'down' | 'rest' | 'whole';

function lookOf(fall: Fall): Look {
  if (fall.feature === 'base') return 'rest';
  return fall.points < 0 ? 'down' : 'up';
}

/** The sign of the points is printed beside the bar, so its colour is not alone. */
function Bar({ from, to, scale, look }: {
  from: number;
  to: number;
  scale: { low: number; size: number };
  look: Look;
}) {
  const share = (value: number) => `${((value - scale.low) / scale.size) * 100}%`;
  const start = Math.min(from, to);
  return (
    <div className={styles.track} aria-hidden="true">
      <div
        className={cx(styles.fall, styles[look])}
        style={{ insetInlineStart: share(start), width: `${(Math.abs(to - from) / scale.size) * 100}%` }}
      />
    </div>
  );
}

const featureNames: Readonly<Record<string, string>> = {
  company_id: t('company'),
  owner_id: t('owner'),
  email_domain: 'Email domain',
  attributes: 'Number of own fields',
};

function reasonOf({ feature, value }: Fall) {
  if (feature === 'base') return t('base');
  const name = featureNames[feature] ?? label(feature.replace(/^attributes\./, ''));
  const shown = value === 'present' ? t('present') : value === 'absent' ? t('absent') : value;
  return (
    <>
      {name} <span className="meta">{shown}</span>
    </>
  );
}
