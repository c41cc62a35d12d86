import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { useLeave } from '@/app/leave';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { invalidate, readOptions } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button, buttonLook, IconButton } from '@/ui/button';
import { Callout, Skeleton } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { PageHead } from '@/ui/page';
import { toast } from '@/ui/toast';
import { GoLink } from '../record/golink';
import { useSegmentActions, type Segment } from './actions';
import { Builder } from './builder';
import { type Fields, useFields } from './fields';
import { readFilter } from './filter';
import { t } from './messages';
import { Preview } from './preview';
import { useFilter } from './usefilter';
import { sentence } from './words';
import styles from './segments.module.css';

const buildingPause = 1500; // milliseconds between two reads of a segment that is being built

/** SegmentPage is one segment: its conditions, and who is in it. */
export function SegmentPage() {
  const { id } = useParams({ from: '/app/segments/$id' });
  const navigate = useNavigate();
  const fields = useFields();
  const segment = useQuery({
    ...readOptions(useApi(), '/api/v1/crm/segments/{id}', { path: { id } }),
    refetchInterval: ({ state }) => (state.data?.data.status === 'building' ? buildingPause : false),
  });
  const back = () => void navigate({ to: '/app/segments' });
  useCommands([{ id: 'segment.back', label: t('back'), keys: 'esc', keyOnly: true, run: back }]);
  const error = segment.data === undefined ? segment.error : fields.pending ? fields.error : null;
  const again = () => {
    void segment.refetch();
    fields.again();
  };
  return (
    <div className={styles.page}>
      <PageHead
        title={segment.data?.data.name ?? t('segment')}
        before={<IconButton icon="left" label={t('back')} keys="esc" onClick={back} />}
      >
        {segment.data !== undefined && <Actions segment={segment.data.data} />}
      </PageHead>
      {error !== null ? (
        <Failure error={error} again={again} />
      ) : segment.data === undefined || fields.pending ? (
        <div className={styles.side}>
          <Skeleton width="60%" />
        </div>
      ) : (
        <Loaded key={id} answer={segment.data} fields={fields} />
      )}
    </div>
  );
}

function Actions({ segment }: { segment: Segment }) {
  const may = useMay('member');
  const { archive, restore } = useSegmentActions();
  return (
    <>
      <GoLink
        href={`/app/contacts?segment=${encodeURIComponent(segment.key)}`}
        className={buttonLook({ size: 'small' })}
      >
        {t('openContacts')}
      </GoLink>
      {may &&
        (segment.archived_at === null ? (
          <IconButton icon="archive" label={t('archive')} onClick={() => void archive(segment)} />
        ) : (
          <Button size="small" onClick={() => void restore(segment)}>
            {t('restore')}
          </Button>
        ))}
    </>
  );
}

function Loaded({ answer, fields }: { answer: Answer<Segment>; fields: Fields }) {
  const segment = answer.data;
  const may = useMay('member') && segment.archived_at === null;
  const { org, role } = useScope();
  const draft = useFilter(segment.filter, fields);
  const [name, setName] = useState<string | null>(null);
  const isDynamic = segment.kind === 'dynamic';
  const isReadable = !isDynamic || readFilter(segment.filter) !== null;
  const save = useSave(answer, () => {
    setName(null);
    draft.keep();
  });
  const isRenamed = name !== null && name.trim() !== segment.name;
  const changes = {
    ...(isRenamed && { name: name.trim() }),
    ...(isDynamic && draft.isChanged && { filter: draft.filter }),
  };
  const isChanged = isRenamed || (isDynamic && draft.isChanged);
  const leave = useLeave(may && isChanged);
  const isComplete = !(isDynamic && draft.isChanged && draft.filter === undefined) && name?.trim() !== '';
  return (
    <div className={styles.columns}>
      <div className={styles.side}>
        {segment.archived_at !== null && (
          <Callout tone="warn" title={t('isArchived')}>
            {t('isArchivedText')}
          </Callout>
        )}
        {segment.archived_at === null && !may && <Callout>{t('readonly', { org: org.name, role })}</Callout>}
        {segment.status === 'building' && (
          <Callout tone="busy" title={t('isBuilding')}>
            {t('isBuildingText')}
          </Callout>
        )}
        {may ? (
          <Form
            className={styles.form}
            problem={describe(save.error)}
            onSubmit={() => isChanged && isComplete && void save.submit(changes)}
          >
            <Field label={t('name')} pointer="/name">
              <Input
                autoComplete="off"
                maxLength={200}
                value={name ?? segment.name}
                onChange={(event) => setName(event.target.value)}
              />
            </Field>
            {isDynamic && isReadable && (
              <section className={styles.conditions} aria-label={t('conditions')}>
                <h2 className={styles.label}>{t('conditions')}</h2>
                <Builder
                  group={draft.group}
                  fields={fields}
                  onChange={draft.change}
                  errorOf={(id) => draft.errorOf(id, save.error, true)}
                />
              </section>
            )}
            {(isChanged || save.busy) && (
              <div className={styles.buttons}>
                <Button kind="primary" type="submit" busy={save.busy} disabled={!isComplete}>
                  {t('save')}
                </Button>
                <Button
                  onClick={() => {
                    setName(null);
                    draft.revert();
                    save.reset();
                  }}
                >
                  {t('revert')}
                </Button>
              </div>
            )}
          </Form>
        ) : (
          isDynamic && isReadable && <p>{sentence(draft.group, fields.names)}</p>
        )}
        {!isReadable && <Callout title={t('unknownFilter')}>{t('unknownFilterText')}</Callout>}
        {!isDynamic && <p className={styles.soft}>{t('staticText')}</p>}
      </div>
      {isDynamic && draft.isChanged ? (
        <Preview title={t('previewNow')} filter={draft.filter === undefined ? undefined : draft.text} />
      ) : (
        <Preview title={t('preview')} segment={segment.key} />
      )}
      {leave}
    </div>
  );
}

/** useSave saves changes for the version that is shown: a change that somebody else saved meanwhile is not lost. */
function useSave(answer: Answer<Segment>, done: () => void) {
  const api = useApi();
  const scope = useScope();
  const { id } = answer.data;
  return useSubmit(
    (body: { name?: string; filter?: unknown }, idempotencyKey) =>
      api.patch('/api/v1/crm/segments/{id}', { path: { id }, body, ifMatch: answer.etag, idempotencyKey }),
    () => {
      invalidate(scope, '/api/v1/crm/segments', '/api/v1/crm/contacts');
      toast({ title: t('saved') });
      done();
    },
  );
}
