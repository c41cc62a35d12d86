import { useParams } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useCommands } from '@/app/commands';
import { useLeave } from '@/app/leave';
import { tellFailure } from '@/app/tell';
import type { Answer } from '@/lib/api';
import { isPlanNeeded, showPlanNeeded } from '@/lib/planneeded';
import { isProblem, type Problem } from '@/lib/problem';
import { randomId } from '@/lib/random';
import { invalidate, useRead } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button } from '@/ui/button';
import { Callout, EmptyState } from '@/ui/feedback';
import { Menu } from '@/ui/menu';
import { toast } from '@/ui/toast';
import { useDrag } from '../list/usedrag';
import mail from '../mail/mail.module.css';
import { SequenceFrame, type Within } from './frame';
import { t } from './messages';
import { StepCard } from './stepcard';
import {
  daysOf,
  insertStep,
  kinds,
  moveStep,
  newStep,
  problemsOf,
  removeStep,
  replaceStep,
  toInput,
  type Kind,
  type Sequence,
  type Step,
} from './steps';
import { kindIcons, windowText } from './words';
import styles from './sequences.module.css';

/** SequenceSteps is the builder: the steps of a sequence in their order, each with its form. */
export function SequenceSteps() {
  const { id } = useParams({ from: '/app/sequences/$id' });
  return <SequenceFrame id={id}>{(within) => <Builder key={id} {...within} />}</SequenceFrame>;
}

function Builder({ sequence, answer, mayEdit, problem, before }: Within) {
  const edits = sequence.status !== 'archived' && mayEdit;
  const draft = useDraft(answer);
  const { steps, set, dirty } = draft;
  const leave = useLeave(edits && dirty);
  const [open, setOpen] = useState<string | null>(null);
  const [said, setSaid] = useState('');
  const stats = useRead('/api/v1/sequences/{id}/stats', { path: { id: sequence.id } });
  const mailbox = sequence.mailbox_ids[0] ?? null;
  useEffect(() => {
    before.current = draft.save;
    return () => {
      before.current = null;
    };
  });
  const add = (kind: Kind, place: number) => {
    const step = newStep(kind, steps, place);
    set(insertStep(steps, step, place));
    setOpen(step.key);
  };
  const move = (from: number, to: number) => {
    const next = moveStep(steps, from, to);
    if (next === steps) return;
    set([...next]);
    setSaid(t('moved', { place: to + 1, count: next.length }));
  };
  const remove = (step: Step) => {
    const kept = steps;
    set(removeStep(steps, step.key));
    setSaid(t('removed'));
    toast({ title: t('removed'), onUndo: () => set(kept) });
  };
  useCommands(
    edits
      ? [
          { id: 'steps.save', label: t('save'), icon: 'check', keys: 'mod s', run: () => void draft.save() },
          { id: 'steps.add', label: t('addStep'), icon: 'plus', keys: 'a', run: () => add('email', steps.length) },
        ]
      : [],
  );
  const shown = problemsOf(draft.problem ?? problem);
  const days = daysOf(steps);
  const drag = useDrag<number>(move);
  const bar = edits && dirty && (
    <div className={styles.bar} role="toolbar" aria-label={t('unsaved')}>
      <span>{t('unsaved')}</span>
      <Button size="small" kind="quiet" onClick={draft.discard}>
        {t('discard')}
      </Button>
      <Button size="small" kind="primary" busy={draft.busy} onClick={() => void draft.save()}>
        {t('save')}
      </Button>
    </div>
  );
  if (steps.length === 0) {
    return (
      <>
        <EmptyState
          icon="sequences"
          title={t('noSteps')}
          action={
            edits && (
              <Button kind="primary" size="small" icon="plus" onClick={() => add('email', 0)}>
                {t('add', { kind: t('email').toLowerCase() })}
              </Button>
            )
          }
          guide={{ label: t('guide'), href: '/docs/guides/sequences' }}
        >
          {t('noStepsText')}
        </EmptyState>
        {bar}
        {leave}
      </>
    );
  }
  return (
    <div className={mail.scroll}>
      <div className={styles.flow}>
        <p className="meta">{windowText(sequence)}</p>
        {draft.stale && (
          <Callout
            tone="warn"
            title={t('staleTitle')}
            action={
              <span className={mail.buttons}>
                <Button size="small" onClick={draft.takeTheirs}>
                  {t('takeTheirs')}
                </Button>
                <Button size="small" kind="primary" onClick={draft.keepMine}>
                  {t('keepMine')}
                </Button>
              </span>
            }
          >
            {t('stale')}
          </Callout>
        )}
        {draft.problem !== null && draft.problem.errors === undefined && (
          <Callout tone="bad" title={draft.problem.title}>
            {draft.problem.detail}
          </Callout>
        )}
        <ol className={styles.steps} aria-label={t('steps')}>
          {steps.map((step, place) => (
            <StepCard
              key={step.key}
              step={step}
              place={place}
              steps={steps}
              day={days[place] ?? 1}
              problems={shown.steps.get(place) ?? []}
              stats={(stats.data?.data ?? []).filter((one) => one.step_key === step.key)}
              mailbox={mailbox}
              isOpen={open === step.key}
              onOpen={(on) => setOpen(on ? step.key : null)}
              drag={drag(place)}
              {...(edits && {
                edit: {
                  change: (next: Step) => set(replaceStep(steps, next)),
                  move: (to: number) => move(place, to),
                  remove: () => remove(step),
                  insert: (kind: Kind) => add(kind, place),
                },
              })}
            />
          ))}
        </ol>
        <p className="visually-hidden" role="status">
          {said}
        </p>
        {edits && (
          <div className={styles.last}>
            <AddStep onAdd={(kind) => add(kind, steps.length)} />
          </div>
        )}
      </div>
      {bar}
      {leave}
    </div>
  );
}

/** AddStep opens the kinds of steps. */
export function AddStep({ onAdd }: { onAdd: (kind: Kind) => void }) {
  return (
    <Menu
      trigger={
        <Button size="small" icon="plus">
          {t('addStep')}
        </Button>
      }
      items={kinds.map((kind) => ({
        label: `${t(kind)}: ${t(`${kind}Help`)}`,
        icon: kindIcons[kind],
        onSelect: () => onAdd(kind),
      }))}
    />
  );
}

/** useDraft keeps the steps as they are edited. Steps that others have stored meanwhile are shown if nothing is edited. */
function useDraft(answer: Answer<Sequence>) {
  const api = useApi();
  const scope = useScope();
  const [base, setBase] = useState(answer);
  const [edited, setEdited] = useState<readonly Step[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [theirs, setTheirs] = useState<Answer<Sequence> | null>(null);
  const [busy, setBusy] = useState(false);
  const steps = edited ?? base.data.steps;
  const dirty = edited !== null && JSON.stringify(edited) !== JSON.stringify(base.data.steps);
  useEffect(() => {
    if (!dirty && answer.etag !== base.etag) {
      setBase(answer);
      setEdited(null);
    }
  }, [answer, base.etag, dirty]);
  const id = base.data.id;
  const path = { id };
  const save = async (onto = base): Promise<boolean> => {
    if (!dirty) return true;
    setBusy(true);
    setProblem(null);
    try {
      const stored = await api.patch('/api/v1/sequences/{id}', {
        path,
        body: { steps: steps.map(toInput) },
        ifMatch: onto.etag,
        idempotencyKey: randomId(),
      });
      setBase(stored);
      setEdited(null);
      setTheirs(null);
      toast({ title: t('saved') });
      return true;
    } catch (error) {
      if (isProblem(error, 'precondition_failed')) {
        const now = await api.get('/api/v1/sequences/{id}', { path });
        // The settings and the counts have an ETag in common with the steps.
        if (JSON.stringify(now.data.steps) === JSON.stringify(onto.data.steps)) return await save(now);
        setTheirs(now);
      } else if (isPlanNeeded(error)) showPlanNeeded(error);
      else if (isProblem(error) && error.status === 422) setProblem(error.problem);
      else tellFailure(error);
      return false;
    } finally {
      setBusy(false);
      invalidate(scope, '/api/v1/sequences');
    }
  };
  return {
    steps,
    dirty,
    problem,
    busy,
    stale: theirs !== null,
    set: (next: readonly Step[]) => setEdited(next),
    save: () => save(),
    discard: () => {
      setEdited(null);
      setProblem(null);
    },
    takeTheirs: () => {
      if (theirs !== null) setBase(theirs);
      setTheirs(null);
      setEdited(null);
    },
    keepMine: () => void (theirs !== null && save(theirs)),
  };
}
