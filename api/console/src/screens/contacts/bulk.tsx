import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { describe } from '@/lib/describe';
import type { Options } from '@/lib/operations';
import { invalidate, readOptions } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Combobox } from '@/ui/combobox';
import { Dialog } from '@/ui/dialog';
import { Progress, Skeleton } from '@/ui/feedback';
import { Field } from '@/ui/field';
import { Form } from '@/ui/form';
import { Select, type Option } from '@/ui/select';
import { toast } from '@/ui/toast';
import { useMembers, useSegments, useStages, useTags } from '../record/directory';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { t } from './messages';
import type { Filter } from './search';
import styles from './contacts.module.css';

const path = '/api/v1/crm/contacts/bulk';

type Action = Options<'post', typeof path>['body']['action'];
export type BulkKind = 'tag' | 'untag' | 'segment' | 'stage' | 'owner' | 'archive';

const texts = {
  tag: { title: t('bulkTag'), verb: 'doTag' },
  untag: { title: t('bulkUntag'), verb: 'doUntag' },
  segment: { title: t('bulkSegment'), verb: 'doSegment' },
  stage: { title: t('bulkStage'), verb: 'doStage' },
  owner: { title: t('bulkOwner'), verb: 'doOwner' },
  archive: { title: t('bulkArchive'), verb: 'doArchive' },
} as const;

/** BulkDialog asks for what is to change, counts the contacts that would change, and begins the change. */
export function BulkDialog({ kind, filter, onClose, onBegun }: {
  kind: BulkKind;
  filter: Filter;
  onClose: () => void;
  /** Called with the id of the change. */
  onBegun: (id: string) => void;
}) {
  const api = useApi();
  const [tags, setTags] = useState<Option[]>([]);
  const [choice, setChoice] = useState<string | null>(null);
  const stages = useStages();
  const known = useTags();
  const segments = useSegments().filter((segment) => segment.isStatic);
  const members = useMembers();
  const action = actionOf(kind, tags, choice);
  const preview = usePreview(filter, action);
  const begin = useSubmit(
    (chosen: Action, idempotencyKey) => api.post(path, { body: { filter, action: chosen }, idempotencyKey }),
    ({ data }) => {
      onBegun(data.id);
      onClose();
    },
  );
  const count = preview.result?.rows_total ?? 0;
  const problem = begin.error ?? preview.error;
  return (
    <Dialog open onClose={onClose} title={texts[kind].title} {...(kind === 'archive' && { intro: t('bulkArchiveHelp') })}>
      <Form
        problem={isPlanLimit(problem) ? null : describe(problem)}
        onSubmit={() => action !== null && count > 0 && void begin.submit(action)}
      >
        <PlanLimit error={problem} />
        {(kind === 'tag' || kind === 'untag') && (
          <Field label={t('tags')}>
            <Combobox
              label={t('tags')}
              multiple
              options={known}
              value={tags}
              onChange={setTags}
              {...(kind === 'tag' && {
                onCreate: (name: string) => setTags([...tags, { value: name, label: name }]),
              })}
            />
          </Field>
        )}
        {kind === 'segment' && (
          <Field label={t('segments')} help={t('bulkSegmentHelp')}>
            <Combobox label={t('segments')} multiple options={segments} value={tags} onChange={setTags} />
          </Field>
        )}
        {kind === 'stage' && (
          <Field label={t('stage')}>
            <Select label={t('stage')} options={stages} value={choice} onChange={setChoice} />
          </Field>
        )}
        {kind === 'owner' && (
          <Field label={t('owner')}>
            <Select label={t('owner')} options={members.options} value={choice} onChange={setChoice} />
          </Field>
        )}
        <div className={styles.preview} aria-live="polite">
          {action !== null && preview.result === null && problem === null && <Skeleton width="50%" />}
          {preview.result !== null && (
            <>
              <strong>{count === 0 ? t('nothingChanges') : t('preview', { count })}</strong>
              {count > 0 && <span className="meta">{t('previewHelp')}</span>}
            </>
          )}
        </div>
        <div>
          <Button
            kind={kind === 'archive' ? 'danger' : 'primary'}
            type="submit"
            busy={begin.busy}
            disabled={action === null || count === 0}
          >
            {preview.result === null ? texts[kind].title : t(texts[kind].verb, { count })}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

function actionOf(kind: BulkKind, tags: readonly Option[], choice: string | null): Action | null {
  const names = tags.map((tag) => tag.value);
  switch (kind) {
    case 'tag':
      return names.length === 0 ? null : { type: 'tag', add: names };
    case 'untag':
      return names.length === 0 ? null : { type: 'tag', remove: names };
    case 'segment':
      return names.length === 0 ? null : { type: 'segment', add: names };
    case 'stage':
      return choice === null ? null : { type: 'update', patch: { stage: choice } };
    case 'owner':
      return choice === null ? null : { type: 'update', patch: { owner_id: choice } };
    case 'archive':
      return { type: 'archive' };
  }
}

const choosePause = 400; // milliseconds after the last choice

/** Counts what action would change: a dry run for each choice that stands for a moment. */
function usePreview(filter: Filter, action: Action | null) {
  const api = useApi();
  const [id, setId] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const text = JSON.stringify(action);
  useEffect(() => {
    setId(null);
    setError(null);
    if (action === null) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      api
        .post(path, {
          body: { filter, action, dry_run: true },
          idempotencyKey: crypto.randomUUID(),
          signal: stop.signal,
        })
        .then(({ data }) => setId(data.id))
        .catch((cause: unknown) => stop.signal.aborted || setError(cause));
    }, choosePause);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [api, filter, text]); // text stands for action
  const change = useChange(id);
  // The number of contacts is known at the start; the rest of the dry run counts those that would change.
  const result = id !== null && change.data !== undefined && change.data.status !== 'queued' ? change.data : null;
  return { result, error: error ?? change.error };
}

type Change = NonNullable<ReturnType<typeof useChange>['data']>;

/** Reads a bulk change until it is over. */
function useChange(id: string | null) {
  const query = useQuery({
    ...readOptions(useApi(), '/api/v1/crm/contacts/bulk/{id}', { path: { id: id ?? '' } }),
    enabled: id !== null,
    refetchInterval: ({ state }) => (state.data !== undefined && isOver(state.data.data) ? false : 700),
  });
  return { data: id === null ? undefined : query.data?.data, error: query.error };
}

const isOver = (change: { status: string }) => !['queued', 'running'].includes(change.status);

/** BulkProgress shows a change that is under way, and what it did once it is over. */
export function BulkProgress({ id, onOver, undo }: {
  id: string;
  onOver: () => void;
  /** Takes the change back, where that is possible. */
  undo?: (() => void) | undefined;
}) {
  const api = useApi();
  const scope = useScope();
  const { data: change, error } = useChange(id);
  const told = useRef(false);
  const over = change !== undefined && isOver(change);
  useEffect(() => {
    if (told.current || (!over && error === null)) return;
    told.current = true;
    invalidate(scope, '/api/v1/crm/contacts', '/api/v1/crm/tags', '/api/v1/crm/segments');
    if (change !== undefined) tell(change, undo);
    onOver();
  }, [over, error]);
  const done = change === undefined ? 0 : change.rows_changed + change.rows_unchanged + change.rows_failed;
  return (
    <div className={styles.running}>
      <Progress label={t('running')} value={done} {...(change && change.rows_total > 0 && { max: change.rows_total })} />
      <Button
        size="small"
        onClick={() =>
          void api
            .post('/api/v1/crm/contacts/bulk/{id}/cancel', { path: { id }, idempotencyKey: crypto.randomUUID() })
            .catch((cause: unknown) => {
              const { title, detail } = describe(cause) ?? { title: '', detail: '' };
              toast({ kind: 'bad', title, detail });
            })
        }
      >
        {t('stop')}
      </Button>
    </div>
  );
}

function tell(change: Change, undo: (() => void) | undefined): void {
  const failed = change.rows_failed > 0 ? t('doneFailed', { count: change.rows_failed }) : '';
  const title = t('done', { count: change.rows_changed });
  if (change.status === 'failed') return void toast({ kind: 'bad', title: t('notSaved'), detail: change.error ?? title });
  if (change.status === 'cancelled') return void toast({ kind: 'plain', title: t('stopped'), detail: title });
  toast({
    title,
    ...(failed !== '' && { detail: failed, kind: 'bad' as const }),
    ...(undo !== undefined && change.rows_changed > 0 && { onUndo: undo }),
  });
}
