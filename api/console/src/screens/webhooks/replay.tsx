import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { describe } from '@/lib/describe';
import { messages } from '@/lib/messages';
import type { Result } from '@/lib/operations';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { Combobox } from '@/ui/combobox';
import { Dialog } from '@/ui/dialog';
import { Callout, Progress } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { useRead } from '@/lib/read';
import type { EventTypeSelector } from './types';
import { fromLocal, toLocal } from './local';
import { nameOf, type Webhook } from './words';
import styles from './webhooks.module.css';

const t = messages({
  title: 'Replay events',
  intro: 'Sends the events of a range to {name} again, in their order. Each has the webhook-id of its first delivery.',
  from: 'From',
  to: 'To',
  kept: 'Events are kept for 30 days. Times are in your time zone.',
  types: 'Event types',
  typesHelp: 'None chosen: the types that the webhook subscribes to.',
  onlyFailed: 'Only what was not delivered',
  onlyFailedHelp: 'Leaves out events that this endpoint has accepted.',
  count: 'Count events',
  found: { one: '{count} event matches', other: '{count} events match' },
  nothing: 'No event matches: nothing would be sent.',
  send: { one: 'Replay {count} event', other: 'Replay {count} events' },
  cancel: 'Cancel',
  close: 'Close',
  progress: 'Replay',
  queued: 'Waiting to begin',
  running: '{sent} of {count} sent',
  completed: 'Completed: {delivered} delivered, {open} on their way, {failed} failed',
  stopped: 'Stopped: the webhook was disabled or archived.',
  leave: 'It goes on when you close this. The deliveries are in the list.',
});

type Replay = Result<'get', '/api/v1/webhooks/{id}/replays/{replay}'>;

interface Range {
  from: string;
  to: string;
  types: readonly string[];
  onlyFailed: boolean;
}

/** ReplayDialog counts the events of a range, sends them again, and shows the progress. */
export function ReplayDialog({ hook, onClose }: { hook: Webhook; onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const types = useRead('/api/v1/event-types');
  const [range, setRange] = useState<Range>(() => ({
    from: toLocal(new Date(Date.now() - 24 * 3_600_000)),
    to: toLocal(new Date()),
    types: [],
    onlyFailed: true,
  }));
  const [counted, setCounted] = useState<Replay | null>(null);
  const [started, setStarted] = useState<Replay | null>(null);
  const send = (dry_run: boolean) => (given: Range, idempotencyKey: string) =>
    api.post('/api/v1/webhooks/{id}/replay', {
      path: { id: hook.id },
      body: {
        from: fromLocal(given.from),
        to: fromLocal(given.to),
        only_failed: given.onlyFailed,
        dry_run,
        ...(given.types.length > 0 && { types: given.types as EventTypeSelector[] }),
      },
      idempotencyKey,
    });
  const count = useSubmit(send(true), ({ data }) => setCounted(data));
  const start = useSubmit(send(false), ({ data }) => {
    setStarted(data);
    invalidate(scope, '/api/v1/webhook-deliveries');
  });
  const change = (part: Partial<Range>) => {
    setRange({ ...range, ...part });
    setCounted(null);
  };
  if (started?.id) return <Running hook={hook} id={started.id} onClose={onClose} />;
  const isReady = counted !== null && counted.count > 0;
  const submit = () => void (isReady ? start.submit(range) : count.submit(range));
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('title')}
      intro={t('intro', { name: nameOf(hook.url) })}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" busy={count.busy || start.busy} onClick={submit}>
            {isReady ? t('send', { count: counted.count }) : t('count')}
          </Button>
        </>
      }
    >
      <Form problem={describe(start.error ?? count.error)} onSubmit={submit}>
        <div className={styles.pair}>
          <Field label={t('from')} pointer="/from">
            <Input type="datetime-local" value={range.from} onChange={(event) => change({ from: event.target.value })} />
          </Field>
          <Field label={t('to')} pointer="/to">
            <Input type="datetime-local" value={range.to} onChange={(event) => change({ to: event.target.value })} />
          </Field>
        </div>
        <p className="meta">{t('kept')}</p>
        <Field label={t('types')} help={t('typesHelp')} optional>
          <Combobox
            label={t('types')}
            multiple
            options={(types.data?.data ?? []).map((one) => ({ value: one.type, label: one.type }))}
            value={range.types.map((one) => ({ value: one, label: one }))}
            onChange={(next) => change({ types: next.map(({ value }) => value) })}
          />
        </Field>
        <Checkbox
          label={t('onlyFailed')}
          help={t('onlyFailedHelp')}
          checked={range.onlyFailed}
          onChange={(onlyFailed) => change({ onlyFailed })}
        />
        <div aria-live="polite">
          {counted !== null && (
            <Callout tone={counted.count > 0 ? 'busy' : 'off'}>
              {counted.count > 0 ? t('found', { count: counted.count }) : t('nothing')}
            </Callout>
          )}
        </div>
      </Form>
    </Dialog>
  );
}

const period = 1000;

function Running({ hook, id, onClose }: { hook: Webhook; id: string; onClose: () => void }) {
  const api = useApi();
  const { data } = useQuery({
    queryKey: ['/api/v1/webhooks/{id}/replays/{replay}', { path: { id: hook.id, replay: id } }],
    queryFn: ({ signal }) =>
      api.get('/api/v1/webhooks/{id}/replays/{replay}', { path: { id: hook.id, replay: id }, signal }),
    refetchInterval: ({ state }) => (isOver(state.data?.data) ? false : period),
  });
  const replay = data?.data;
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('title')}
      intro={t('leave')}
      foot={
        <Button kind="primary" onClick={onClose}>
          {t('close')}
        </Button>
      }
    >
      <div aria-live="polite">
        <Progress
          label={t('progress')}
          value={replay?.sent ?? 0}
          max={replay?.count ?? 1}
          detail={wordOf(replay)}
          tone={replay?.status === 'stopped' ? 'bad' : replay?.status === 'completed' ? 'good' : 'busy'}
        />
      </div>
    </Dialog>
  );
}

/** isOver reports whether a replay has sent everything and no delivery of it is on its way for the first time. */
function isOver(replay: Replay | undefined): boolean {
  if (replay === undefined) return false;
  return replay.status === 'stopped' || (replay.status === 'completed' && replay.deliveries.pending === 0);
}

function wordOf(replay: Replay | undefined): string {
  if (replay === undefined || replay.status === 'queued') return t('queued');
  if (replay.status === 'stopped') return t('stopped');
  if (replay.status !== 'completed') return t('running', { sent: replay.sent, count: replay.count });
  const { delivered, pending, failed, exhausted, discarded } = replay.deliveries;
  return t('completed', { delivered, open: pending, failed: failed + exhausted + discarded });
}
