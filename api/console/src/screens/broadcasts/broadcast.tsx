import { useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useCommands, type Command } from '@/app/commands';
import { Failure } from '@/app/failure';
import type { Answer } from '@/lib/api';
import { formatNumber } from '@/lib/intl';
import type { Problem } from '@/lib/problem';
import { useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button, IconButton } from '@/ui/button';
import { ConfirmDialog } from '@/ui/dialog';
import { Callout, Progress, Skeleton } from '@/ui/feedback';
import { Card, Facts, PageHead } from '@/ui/page';
import { Status } from '@/ui/status';
import { Time } from '@/ui/time';
import { useAct } from '../mail/act';
import { useMailboxes } from '../mail/choices';
import styles from '../mail/mail.module.css';
import { AudienceCard, LeftOut } from './audience';
import { Editor } from './editor';
import { t } from './messages';
import { Results } from './results';
import { ScheduleDialog } from './schedule';
import { TestDialog } from './test';
import { isOpen, isUnderWay, tones, totalOf, type Broadcast } from './words';

/** BroadcastPage shows one broadcast: its mail and audience until it begins, then its progress and results. */
export function BroadcastPage() {
  const { id } = useParams({ from: '/app/broadcasts/$id' });
  const read = useRead('/api/v1/broadcasts/{id}', { path: { id } });
  const navigate = useNavigate();
  const back = <IconButton icon="left" label={t('title')} onClick={() => void navigate({ to: '/app/broadcasts' })} />;
  if (read.error !== null && read.data === undefined) return <Failure error={read.error} again={read.again} />;
  if (read.answer === undefined) {
    return (
      <>
        <PageHead before={back} title={<span className={styles.wait}><Skeleton width={240} /></span>} />
        <div className={styles.cards}>
          <Card title={t('whom')}>
            <Skeleton width="60%" />
          </Card>
          <Card title={t('mail')}>
            <Skeleton width="80%" />
          </Card>
        </div>
      </>
    );
  }
  return <Loaded key={id} answer={read.answer} back={back} />;
}

function Loaded({ answer, back }: { answer: Answer<Broadcast>; back: ReactNode }) {
  const one = answer.data;
  const { org, role } = useScope();
  const mayEdit = useMay('member');
  const [layer, setLayer] = useState<'schedule' | 'test' | 'cancel' | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const api = useApi();
  const { busy, run } = useAct('/api/v1/broadcasts');
  const path = { id: one.id };
  const pause = () =>
    void run('pause', (idempotencyKey) => api.post('/api/v1/broadcasts/{id}/pause', { path, idempotencyKey }), {
      title: t('pausedToast'),
      onUndo: () => resume(),
    });
  const resume = () =>
    void run('resume', (idempotencyKey) => api.post('/api/v1/broadcasts/{id}/resume', { path, idempotencyKey }), {
      title: t('resumed'),
    });
  const open = isOpen(one);
  const stops = isUnderWay(one) || one.status === 'scheduled';
  const commands: Command[] = [
    ...(open
      ? [
          { id: 'broadcast.test', label: t('test'), icon: 'bolt' as const, keys: 't', run: () => setLayer('test') },
          { id: 'broadcast.schedule', label: t('schedule'), icon: 'calendar' as const, run: () => setLayer('schedule') },
        ]
      : []),
    ...(one.status === 'paused' ? [{ id: 'broadcast.resume', label: t('resume'), icon: 'play' as const, run: resume }] : []),
  ];
  useCommands(mayEdit ? commands : []);
  return (
    <>
      <PageHead before={back} title={one.name} count={<Status tone={tones[one.status]}>{t(one.status)}</Status>}>
        {mayEdit && (
          <>
            {stops && (
              <Button size="small" kind="quiet" onClick={() => setLayer('cancel')}>
                {t('stop')}
              </Button>
            )}
            {open && (
              <Button size="small" icon="bolt" onClick={() => setLayer('test')}>
                {t('test')}
              </Button>
            )}
            {(one.status === 'sending' || one.status === 'held' || one.status === 'preparing' || one.status === 'scheduled') && (
              <Button size="small" icon="pause" busy={busy === 'pause'} onClick={pause}>
                {t('pause')}
              </Button>
            )}
            {one.status === 'paused' && (
              <Button size="small" kind="primary" icon="play" busy={busy === 'resume'} onClick={resume}>
                {t('resume')}
              </Button>
            )}
            {one.status === 'draft' && (
              <Button size="small" kind="primary" onClick={() => setLayer('schedule')}>
                {t('schedule')}
              </Button>
            )}
          </>
        )}
      </PageHead>
      {!mayEdit && <p className={styles.note}>{t('mayNot', { org: org.name, role })}</p>}
      <div className={styles.scroll}>
        <div className={styles.cards}>
          {one.status_detail !== null && (
            <Callout tone="warn" title={one.status_detail}>
              {one.status_action}
            </Callout>
          )}
          {problem !== null && (
            <Callout tone="bad" title={t('notReady')}>
              <ul>
                {(problem.errors ?? []).map(({ detail, pointer }) => (
                  <li key={`${pointer ?? ''}${detail}`}>{detail}</li>
                ))}
              </ul>
              {problem.errors === undefined && <p>{problem.detail}</p>}
            </Callout>
          )}
          {!open && <ProgressCard one={one} />}
          {!open && <Results id={one.id} />}
          {open && <AudienceCard one={one} />}
          <Editor answer={answer} mayEdit={mayEdit && open} />
        </div>
      </div>
      {layer === 'test' && <TestDialog one={one} onClose={() => setLayer(null)} />}
      {layer === 'schedule' && (
        <ScheduleDialog
          one={one}
          onClose={() => setLayer(null)}
          onProblem={(next) => {
            setProblem(next);
            setLayer(null);
          }}
        />
      )}
      <ConfirmDialog
        open={layer === 'cancel'}
        onClose={() => setLayer(null)}
        title={t('stopTitle', { name: one.name })}
        consequence={t('stopText')}
        action={t('stop')}
        busy={busy === 'cancel'}
        onConfirm={() =>
          void run('cancel', (idempotencyKey) => api.post('/api/v1/broadcasts/{id}/cancel', { path, idempotencyKey }), {
            title: t('stopped'),
          }).then(() => setLayer(null))
        }
      />
    </>
  );
}

/** ProgressCard shows how far a broadcast is. */
function ProgressCard({ one }: { one: Broadcast }) {
  const stats = useRead('/api/v1/broadcasts/{id}/stats', { path: { id: one.id } });
  const { names } = useMailboxes();
  const total = totalOf(stats.data?.data ?? []);
  const settled = total.sent + total.failed + total.unknown;
  return (
    <Card title={t('progress')}>
      <div className={styles.stack}>
        {one.status === 'preparing' ? (
          <Progress label={t('prepared')} value={one.total} />
        ) : (
          <Progress
            label={t('sentOf')}
            value={settled}
            max={Math.max(one.sendable, settled)}
            {...((one.status === 'paused' || one.status === 'held') && { tone: 'warn' as const })}
          />
        )}
        <LeftOut leftOut={one.left_out} />
        <Facts
          facts={[
            [t('mailbox'), one.mailbox_id === null ? '–' : (names.get(one.mailbox_id) ?? `…${one.mailbox_id.slice(-8)}`)],
            [t('audience'), formatNumber(one.sendable)],
            ...(one.send_at === null ? [] : [[t('when'), <Time key="at" at={one.send_at} />] as const]),
            ...(one.completed_at === null ? [] : [[t('completed'), <Time key="end" at={one.completed_at} />] as const]),
          ]}
        />
      </div>
    </Card>
  );
}
