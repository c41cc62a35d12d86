import { formatNumber } from '@/lib/intl';
import { Button, IconButton } from '@/ui/button';
import { cx } from '@/ui/cx';
import { Icon } from '@/ui/icon';
import type { Drag } from '../list/usedrag';
import { AddStep } from './builder';
import { t } from './messages';
import { StepForm } from './stepform';
import type { Kind, Step, StepProblem } from './steps';
import { kindIcons, rateText, stepName, summaryOf, whenText, type Stats } from './words';
import styles from './sequences.module.css';

/** What can be done with a step; absent for those who may only read. */
export interface StepEdit {
  change: (next: Step) => void;
  move: (to: number) => void;
  remove: () => void;
  insert: (kind: Kind) => void;
}

/** StepCard shows one step: when it runs, what it does, what is wrong with it, and its numbers. */
export function StepCard(props: {
  step: Step;
  place: number;
  steps: readonly Step[];
  /** The day on which it runs at the earliest. */
  day: number;
  problems: readonly StepProblem[];
  stats: readonly Stats[];
  mailbox: string | null;
  isOpen: boolean;
  onOpen: (open: boolean) => void;
  drag: Drag;
  edit?: StepEdit;
}) {
  const { step, place, steps, day, problems, stats, isOpen, onOpen, drag, edit } = props;
  const number = t('stepNumber', { number: place + 1 });
  return (
    <li className={cx(styles.step, drag.isOver && styles.over)} {...drag.target}>
      <div className={styles.gap}>
        <span className={styles.wire} aria-hidden="true" />
        <span className={styles.delay}>{t('dayOf', { day, when: whenText(step.delay, place) })}</span>
        {edit && place > 0 && (
          <span className={styles.insert}>
            <AddStep onAdd={edit.insert} />
          </span>
        )}
      </div>
      <section className={cx(styles.card, problems.length > 0 && styles.wrong)} aria-label={`${number}: ${t(step.kind)}`}>
        <div className={styles.head}>
          {edit && (
            <span className={styles.grip} {...drag.grip} title={t('drag')} aria-hidden="true">
              <Icon name="grip" />
            </span>
          )}
          <span className={styles.symbol}>
            <Icon name={kindIcons[step.kind]} />
          </span>
          <span className={styles.what}>
            <span className="meta">{`${number} · ${t(step.kind)}`}</span>
            <span className={styles.summary}>{summaryOf(step)}</span>
          </span>
          {edit && (
            <span className={styles.tools}>
              <IconButton
                icon="up"
                label={t('moveUp')}
                disabled={place === 0}
                onClick={() => edit.move(place - 1)}
              />
              <IconButton
                icon="down"
                label={t('moveDown')}
                disabled={place === steps.length - 1}
                onClick={() => edit.move(place + 1)}
              />
              <IconButton icon="trash" label={t('remove')} onClick={edit.remove} />
            </span>
          )}
          <Button size="small" aria-expanded={isOpen} onClick={() => onOpen(!isOpen)}>
            {isOpen ? t('close') : t('edit')}
          </Button>
        </div>
        {step.condition !== undefined && <Branches condition={step.condition} steps={steps} />}
        {stats.length > 0 && <Numbers stats={stats} />}
        {problems.length > 0 && (
          <ul className={styles.problems} role="alert">
            {problems.map(({ pointer, detail }) => (
              <li key={pointer + detail}>
                <Icon name="error" />
                {detail}
              </li>
            ))}
          </ul>
        )}
        {isOpen && (
          <div className={styles.body}>
            <StepForm
              step={step}
              steps={steps}
              mailbox={props.mailbox}
              problems={problems}
              {...(edit && { onChange: edit.change })}
            />
          </div>
        )}
      </section>
    </li>
  );
}

/** Branches shows both ways of a condition beside each other. */
function Branches({ condition, steps }: { condition: NonNullable<Step['condition']>; steps: readonly Step[] }) {
  const target = (key: string) =>
    key === '' ? t('nextStep') : key === 'end' ? t('endHere') : t('goTo', { step: stepName(steps, key) });
  return (
    <dl className={styles.branches}>
      <div>
        <dt>{t('ifYes')}</dt>
        <dd>{target(condition.then)}</dd>
      </div>
      <div>
        <dt>{t('ifNo')}</dt>
        <dd>{target(condition.else)}</dd>
      </div>
    </dl>
  );
}

/** Numbers is a thin line on the card: how many mails went out, and the share of replies with its interval. */
function Numbers({ stats }: { stats: readonly Stats[] }) {
  const sent = stats.reduce((sum, one) => sum + one.sent, 0);
  if (sent === 0) return null;
  return (
    <p className={styles.numbers}>
      <span>{`${t('sent')} ${formatNumber(sent)}`}</span>
      {stats.map((one) => (
        <span key={one.variant ?? ''}>
          {`${one.variant === null ? '' : `${one.variant.toUpperCase()} `}${t('replies')} ${rateText(one.reply_rate)}`}
        </span>
      ))}
    </p>
  );
}
