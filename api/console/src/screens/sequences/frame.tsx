import { Link, useNavigate } from '@tanstack/react-router';
import { useRef, useState, type ReactNode, type RefObject } from 'react';
import { useCommands, type Command } from '@/app/commands';
import { Failure } from '@/app/failure';
import { tellFailure } from '@/app/tell';
import type { Answer } from '@/lib/api';
import { isPlanNeeded, showPlanNeeded } from '@/lib/planneeded';
import { isProblem, type Problem } from '@/lib/problem';
import { randomId } from '@/lib/random';
import { invalidate, useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button, IconButton } from '@/ui/button';
import { ConfirmDialog } from '@/ui/dialog';
import { Callout, Skeleton } from '@/ui/feedback';
import { Menu, type MenuEntry } from '@/ui/menu';
import { PageHead } from '@/ui/page';
import { Status } from '@/ui/status';
import { toast } from '@/ui/toast';
import { useAct } from '../mail/act';
import styles from '../mail/mail.module.css';
import { Enrol } from './enrol';
import { t } from './messages';
import { problemsOf, type Sequence } from './steps';
import { isWaiting, sequenceStatus, waitText } from './words';

/** What a page within the frame shares with its head. */
export interface Within {
  sequence: Sequence;
  answer: Answer<Sequence>;
  mayEdit: boolean;
  /** Why the last activation failed. */
  problem: Problem | null;
  /** Called before an activation; the builder saves the steps here. Without success nothing is activated. */
  before: RefObject<(() => Promise<boolean>) | null>;
  enrol: () => void;
}

const sections = [
  { to: '/app/sequences/$id', label: t('steps') },
  { to: '/app/sequences/$id/contacts', label: t('enrolments') },
  { to: '/app/sequences/$id/numbers', label: t('numbers') },
  { to: '/app/sequences/$id/settings', label: t('settings') },
  { to: '/app/sequences/$id/versions', label: t('versions') },
] as const;

/** SequenceFrame has the head, the state and the tabs of one sequence around the part that is shown. */
export function SequenceFrame({ id, children }: { id: string; children: (within: Within) => ReactNode }) {
  const read = useRead('/api/v1/sequences/{id}', { path: { id } });
  const navigate = useNavigate();
  const back = (
    <IconButton icon="left" label={t('title')} onClick={() => void navigate({ to: '/app/sequences' })} />
  );
  if (read.error !== null && read.data === undefined) return <Failure error={read.error} again={read.again} />;
  if (read.answer === undefined) {
    return (
      <>
        <PageHead before={back} title={<span className={styles.wait}><Skeleton width={240} /></span>} />
        <div className={styles.cards}>
          <Skeleton width="70%" />
          <Skeleton width="50%" />
        </div>
      </>
    );
  }
  return <Loaded id={id} answer={read.answer} back={back} children={children} />;
}

function Loaded({ id, answer, back, children }: {
  id: string;
  answer: Answer<Sequence>;
  back: ReactNode;
  children: (within: Within) => ReactNode;
}) {
  const sequence = answer.data;
  const mayEdit = useMay('member');
  const [layer, setLayer] = useState<'enrol' | 'archive' | null>(null);
  const before = useRef<(() => Promise<boolean>) | null>(null);
  const { activate, problem, busy, ...actions } = useSequenceActions(sequence, before);
  const hasDraft = sequence.draft_version !== null && sequence.status !== 'archived';
  const isLive = sequence.status === 'active' || sequence.status === 'paused';
  const name = sequence.status === 'draft' ? t('activate') : t('activateDraft');
  const commands: Command[] = [
    ...(hasDraft ? [{ id: 'sequence.activate', label: name, icon: 'play' as const, run: () => void activate() }] : []),
    ...(isLive
      ? [{ id: 'sequence.enrol', label: t('enrol'), icon: 'plus' as const, keys: 'e', run: () => setLayer('enrol') }]
      : []),
  ];
  useCommands(mayEdit ? commands : []);
  const items: MenuEntry[] = [
    ...(isLive ? [{ label: t('enrol'), icon: 'plus' as const, onSelect: () => setLayer('enrol') }] : []),
    ...(sequence.status === 'active'
      ? [{ label: t('pause'), icon: 'pause' as const, onSelect: () => void actions.pause() }]
      : []),
    ...(sequence.status === 'paused'
      ? [{ label: t('resume'), icon: 'play' as const, onSelect: () => void actions.resume() }]
      : []),
    { label: t('duplicate'), icon: 'copy', onSelect: () => void actions.duplicate() },
    ...(sequence.status === 'archived'
      ? []
      : [null, { label: t('archive'), icon: 'archive' as const, danger: true, onSelect: () => setLayer('archive') }]),
  ];
  const { rest } = problemsOf(problem);
  return (
    <>
      <PageHead
        before={back}
        title={sequence.name}
        count={<Status tone={sequenceStatus(sequence).tone}>{sequenceStatus(sequence).word}</Status>}
      >
        {mayEdit && (
          <>
            <Menu
              align="end"
              trigger={
                <Button size="small" after="down">
                  {t('actions')}
                </Button>
              }
              items={items}
            />
            {isLive && (
              <span className={styles.wide}>
                <Button size="small" kind={hasDraft ? 'plain' : 'primary'} icon="plus" onClick={() => setLayer('enrol')}>
                  {t('enrol')}
                </Button>
              </span>
            )}
            {hasDraft && (
              <Button size="small" kind="primary" busy={busy === 'activate'} onClick={() => void activate()}>
                {name}
              </Button>
            )}
          </>
        )}
      </PageHead>
      {problem !== null && (
        <div className={styles.callout}>
          <Callout tone="bad" title={t('notReady')}>
            {rest.length > 0 ? (
              <ul>
                {rest.map((detail) => (
                  <li key={detail}>{detail}</li>
                ))}
              </ul>
            ) : (
              <p>{problem.detail}</p>
            )}
          </Callout>
        </div>
      )}
      {isWaiting(sequence) && (
        <div className={styles.callout}>
          <Callout tone="warn">{waitText(sequence)}</Callout>
        </div>
      )}
      {hasDraft && isLive && sequence.draft_version !== null && (
        <p className={styles.note}>{t('draftOf', { count: sequence.draft_version })}</p>
      )}
      <nav className={styles.tabs} aria-label={t('sequence')}>
        {sections.map(({ to, label }) => (
          <Link key={to} to={to} params={{ id }} activeOptions={{ exact: true, includeSearch: false }} className={styles.tab}>
            {label}
          </Link>
        ))}
      </nav>
      {children({ sequence, answer, mayEdit, problem, before, enrol: () => setLayer('enrol') })}
      {layer === 'enrol' && <Enrol sequence={sequence} onClose={() => setLayer(null)} />}
      <ConfirmDialog
        open={layer === 'archive'}
        onClose={() => setLayer(null)}
        title={t('archiveTitle', { name: sequence.name })}
        consequence={t('archiveText')}
        action={t('archive')}
        busy={busy === 'archive'}
        onConfirm={() => void actions.archive().then(() => setLayer(null))}
      />
    </>
  );
}

/** useSequenceActions returns what the head does with a sequence. */
function useSequenceActions(sequence: Sequence, before: RefObject<(() => Promise<boolean>) | null>) {
  const api = useApi();
  const scope = useScope();
  const navigate = useNavigate();
  const { busy, run } = useAct('/api/v1/sequences');
  const [activating, setActivating] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const path = { id: sequence.id };
  const activate = async () => {
    if (activating) return;
    setActivating(true);
    setProblem(null);
    try {
      if (before.current !== null && !(await before.current())) return;
      await api.post('/api/v1/sequences/{id}/activate', { path, idempotencyKey: randomId() });
      toast({ title: t('activated') });
    } catch (error) {
      if (isPlanNeeded(error)) showPlanNeeded(error);
      else if (isProblem(error) && error.status === 422) setProblem(error.problem);
      else tellFailure(error);
    } finally {
      setActivating(false);
      invalidate(scope, '/api/v1/sequences');
    }
  };
  return {
    busy: activating ? 'activate' : busy,
    problem,
    activate,
    pause: () =>
      run('pause', (idempotencyKey) => api.post('/api/v1/sequences/{id}/pause', { path, idempotencyKey }), {
        title: t('pausedToast'),
        onUndo: () =>
          void run('resume', (idempotencyKey) => api.post('/api/v1/sequences/{id}/resume', { path, idempotencyKey })),
      }),
    resume: () =>
      run('resume', (idempotencyKey) => api.post('/api/v1/sequences/{id}/resume', { path, idempotencyKey }), {
        title: t('resumedToast'),
      }),
    archive: () =>
      run('archive', (idempotencyKey) => api.post('/api/v1/sequences/{id}/archive', { path, idempotencyKey }), {
        title: t('archivedToast'),
      }),
    duplicate: () =>
      run(
        'duplicate',
        async (idempotencyKey) => {
          const { data } = await api.post('/api/v1/sequences/{id}/duplicate', { path, body: {}, idempotencyKey });
          void navigate({ to: '/app/sequences/$id', params: { id: data.id } });
        },
        { title: t('duplicated') },
      ),
  };
}
