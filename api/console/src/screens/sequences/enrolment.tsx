import { Link } from '@tanstack/react-router';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { useRead } from '@/lib/read';
import { useApi } from '@/lib/services';
import { Button } from '@/ui/button';
import { Skeleton } from '@/ui/feedback';
import { Facts } from '@/ui/page';
import { SidePanel } from '@/ui/sidepanel';
import { Status } from '@/ui/status';
import { Time } from '@/ui/time';
import { Timeline, type TimelineEntry } from '@/ui/timeline';
import { useAct } from '../mail/act';
import { ContactName } from '../mail/contactname';
import mail from '../mail/mail.module.css';
import { t } from './messages';
import type { Sequence } from './steps';
import { isOpen, reasonWord, stateWord, stepName, waitText } from './words';
import styles from './sequences.module.css';

/** EnrolmentPanel shows one contact's way through a sequence: its state, and each change with what caused it. */
export function EnrolmentPanel({ id, sequence, mayEdit, onClose }: {
  id: string;
  sequence: Sequence;
  mayEdit: boolean;
  onClose: () => void;
}) {
  const read = useRead('/api/v1/enrolments/{id}', { path: { id } });
  const api = useApi();
  const { busy, run } = useAct('/api/v1/sequences', '/api/v1/enrolments/{id}');
  const path = { id };
  const one = read.data;
  const acts = {
    pause: () =>
      void run('pause', (idempotencyKey) => api.post('/api/v1/enrolments/{id}/pause', { path, idempotencyKey }), {
        title: t('pausedOne'),
        onUndo: () => acts.resume(),
      }),
    resume: () =>
      void run('resume', (idempotencyKey) => api.post('/api/v1/enrolments/{id}/resume', { path, idempotencyKey }), {
        title: t('resumedOne'),
      }),
    skip: () =>
      void run('skip', (idempotencyKey) => api.post('/api/v1/enrolments/{id}/skip-step', { path, idempotencyKey }), {
        title: t('skipped'),
      }),
    stop: () =>
      void run('stop', (idempotencyKey) => api.post('/api/v1/enrolments/{id}/stop', { path, idempotencyKey }), {
        title: t('stopped'),
      }),
  };
  const acting = mayEdit && one !== undefined && isOpen(one);
  useCommands(
    acting
      ? [
          { id: 'enrolment.skip', label: t('skip'), icon: 'right', run: acts.skip },
          { id: 'enrolment.stop', label: t('stop'), icon: 'close', run: acts.stop },
        ]
      : [],
  );
  const entries = (one?.history ?? []).map((change, i): TimelineEntry => {
    const { word, tone } = stateWord(change.to);
    return {
      key: `${i}`,
      at: change.at,
      icon: change.email_id !== null ? 'mail' : change.message_id !== null ? 'inbox' : 'sequences',
      tone,
      title: `${word} · ${stepName(sequence.steps, change.step_key)}`,
      body: reasonWord(change.cause),
    };
  });
  return (
    <SidePanel
      title={one === undefined ? t('contact') : <ContactName id={one.contact_id} />}
      label={t('contact')}
      onClose={onClose}
    >
      {read.error !== null && one === undefined ? (
        <Failure error={read.error} again={read.again} />
      ) : one === undefined ? (
        <div className={styles.history}>
          <Skeleton width="60%" />
          <Skeleton width="80%" />
        </div>
      ) : (
        <div className={styles.history}>
          <Facts
            facts={[
              [t('state'), <Status key="s" tone={stateWord(one.state).tone}>{stateWord(one.state).word}</Status>],
              ...(one.reason === null ? [] : [[t('reason'), reasonWord(one.reason)] as const]),
              ...(one.status_reason === null ? [] : [[t('waitsFor'), waitText(one)] as const]),
              [t('step'), stepName(sequence.steps, one.step)],
              ...(one.due_at === null ? [] : [[t('due'), <Time key="d" at={one.due_at} />] as const]),
              [t('began'), <Time key="b" at={one.created_at} />],
              [t('versionOf'), one.version],
            ]}
          />
          <div className={mail.buttons}>
            <Link to="/app/contacts/$id" params={{ id: one.contact_id }}>
              {t('openContact')}
            </Link>
          </div>
          {acting && (
            <div className={mail.buttons}>
              {one.state === 'paused' ? (
                <Button size="small" icon="play" busy={busy === 'resume'} onClick={acts.resume}>
                  {t('resumeOne')}
                </Button>
              ) : (
                <Button size="small" icon="pause" busy={busy === 'pause'} onClick={acts.pause}>
                  {t('pauseOne')}
                </Button>
              )}
              <Button size="small" busy={busy === 'skip'} onClick={acts.skip}>
                {t('skip')}
              </Button>
              <Button size="small" kind="danger" busy={busy === 'stop'} onClick={acts.stop}>
                {t('stop')}
              </Button>
            </div>
          )}
          <h2 className={styles.group}>{t('history')}</h2>
          <Timeline entries={[...entries].reverse()} />
        </div>
      )}
    </SidePanel>
  );
}
