import { useEffect, useState } from 'react';
import { describe } from '@/lib/describe';
import { isProblem, type Problem } from '@/lib/problem';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { Segments } from '@/ui/choice';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { toast } from '@/ui/toast';
import styles from '../mail/mail.module.css';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { LeftOut, useAudience } from './audience';
import { t } from './messages';
import { toTime, type Broadcast } from './words';

/** ScheduleDialog sends a broadcast now or at a time. The page shows what is missing, beside what it is about. */
export function ScheduleDialog({ one, onClose, onProblem }: {
  one: Broadcast;
  onClose: () => void;
  onProblem: (problem: Problem | null) => void;
}) {
  const api = useApi();
  const scope = useScope();
  const { audience } = useAudience(one);
  const [mode, setMode] = useState<'now' | 'later'>('now');
  const [when, setWhen] = useState({ day: '', time: '09:00' });
  const [local, setLocal] = useState(one.local_time);
  const at = mode === 'now' ? null : toTime(when.day, when.time);
  const schedule = useSubmit(
    async (sendAt: string | null, idempotencyKey) => {
      const path = { id: one.id };
      if (local !== one.local_time) await api.patch('/api/v1/broadcasts/{id}', { path, body: { local_time: local } });
      return api.post('/api/v1/broadcasts/{id}/schedule', {
        path,
        body: { ...(sendAt !== null && { send_at: sendAt }) },
        idempotencyKey,
      });
    },
    () => {
      invalidate(scope, '/api/v1/broadcasts');
      onProblem(null);
      toast({ title: mode === 'now' ? t('begun') : t('scheduledFor') });
      onClose();
    },
  );
  const problem = isProblem(schedule.error) && schedule.error.status === 422 ? schedule.error.problem : null;
  useEffect(() => {
    if (problem !== null) onProblem(problem);
  }, [problem]);
  const ready = mode === 'now' || at !== null;
  const submit = () => {
    if (ready) void schedule.submit(at);
  };
  const verb =
    mode === 'later'
      ? t('sendLater')
      : audience === null
        ? t('sendNowUnknown')
        : t('sendNow', { count: audience.sendable });
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('scheduleTitle', { name: one.name })}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" busy={schedule.busy} disabled={!ready} onClick={submit}>
            {verb}
          </Button>
        </>
      }
    >
      <Form
        label={t('schedule')}
        problem={isPlanLimit(schedule.error) || problem !== null ? null : describe(schedule.error)}
        onSubmit={submit}
      >
        <PlanLimit error={schedule.error} />
        <Segments
          label={t('when')}
          value={mode}
          onChange={setMode}
          options={[
            { value: 'now', label: t('now') },
            { value: 'later', label: t('atTime') },
          ]}
        />
        {mode === 'later' && (
          <>
            <div className={styles.pair}>
              <Field label={t('day')} pointer="/send_at">
                <Input type="date" value={when.day} onChange={(e) => setWhen({ ...when, day: e.target.value })} />
              </Field>
              <Field label={t('time')}>
                <Input type="time" value={when.time} onChange={(e) => setWhen({ ...when, time: e.target.value })} />
              </Field>
            </div>
            <Checkbox label={t('localTime')} help={t('localTimeHelp')} checked={local} onChange={setLocal} />
          </>
        )}
        {audience !== null && (
          <div className={styles.tight}>
            <p>
              <strong>{t('wouldGet', { count: audience.sendable })}</strong>
            </p>
            <LeftOut leftOut={audience.left_out} />
          </div>
        )}
      </Form>
    </Dialog>
  );
}
