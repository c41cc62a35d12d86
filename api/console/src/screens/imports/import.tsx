import { useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { formatDay, formatNumber } from '@/lib/intl';
import { invalidate } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button, IconButton } from '@/ui/button';
import { ConfirmDialog } from '@/ui/dialog';
import { Callout, Progress, Skeleton } from '@/ui/feedback';
import { Card, PageHead } from '@/ui/page';
import { Badge, Status } from '@/ui/status';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { Errors, useImport } from './check';
import { t } from './messages';
import { LeftOut, Mapping, ReadAs } from './howread';
import { Result } from './result';
import { doneOf, importState, isActive, isRunning, type Import } from './words';
import styles from './imports.module.css';

/** ImportPage is one import: its progress, its result, and the way back. */
export function ImportPage() {
  const { id } = useParams({ from: '/app/imports/$id' });
  const navigate = useNavigate();
  const scope = useScope();
  const query = useImport(id);
  const one = query.data?.data;
  const back = () => void navigate({ to: '/app/imports' });
  useCommands([{ id: 'import.back', label: t('back'), keys: 'esc', keyOnly: true, run: back }]);
  const wasActive = useRef(false);
  const active = one !== undefined && isActive(one);
  useEffect(() => {
    if (wasActive.current && !active) {
      invalidate(scope, '/api/v1/crm/contacts', '/api/v1/crm/fields', '/api/v1/crm/tags', '/api/v1/jobs');
    }
    wasActive.current = active;
  }, [active]);
  return (
    <div className={styles.page}>
      <PageHead
        title={one?.file_name ?? t('import')}
        before={<IconButton icon="left" label={t('back')} keys="esc" onClick={back} />}
      >
        {one !== undefined && <Undo one={one} />}
      </PageHead>
      <div className={styles.body}>
        {one !== undefined ? (
          <Loaded one={one} />
        ) : query.error === null ? (
          <Skeleton width="60%" />
        ) : (
          <Failure error={query.error} again={() => void query.refetch()} />
        )}
      </div>
    </div>
  );
}

function Loaded({ one }: { one: Import }) {
  const state = importState(one);
  return (
    <>
      <p className={styles.fileLine}>
        <Status tone={state.tone}>{state.word}</Status>
        {one.dry_run && <Badge>{t('dryRun')}</Badge>}
        <span className="meta">
          <Time at={one.created_at} />
        </span>
      </p>
      {one.status === 'failed' && (
        <Callout tone="bad" title={t('importFailed')}>
          {one.error}
        </Callout>
      )}
      {isRunning(one.status) && (
        <Progress
          label={t('progress')}
          value={doneOf(one)}
          tone="busy"
          {...(one.rows_total > 0 && { max: one.rows_total })}
        />
      )}
      <UndoState one={one} />
      <Card title={one.dry_run ? t('checked') : t('facts')}>
        <Result one={one} />
      </Card>
      <Errors one={one} />
      <Mapping one={one} />
      <LeftOut one={one} />
      <ReadAs one={one} />
    </>
  );
}

function UndoState({ one }: { one: Import }) {
  const { undo } = one;
  if (undo === null) return null;
  const taken = undo.contacts_archived + undo.contacts_restored + undo.contacts_left;
  if (isRunning(undo.status)) return <Progress label={t('undoProgress')} value={taken} tone="busy" />;
  if (undo.status === 'failed') return <Callout tone="bad" title={t('undoFailed')} />;
  return (
    <Callout title={t('undone')}>
      {t('undoneText', {
        archived: formatNumber(undo.contacts_archived),
        restored: formatNumber(undo.contacts_restored),
        left: formatNumber(undo.contacts_left),
      })}
    </Callout>
  );
}

/** Undo takes an import back, while that is possible. */
function Undo({ one }: { one: Import }) {
  const api = useApi();
  const scope = useScope();
  const may = useMay('member');
  const [asking, setAsking] = useState(false);
  const undo = useSubmit(
    (id: string, idempotencyKey) =>
      api.post('/api/v1/crm/contacts/imports/{id}/undo', { path: { id }, idempotencyKey }),
    () => {
      invalidate(scope, '/api/v1/crm/contacts/imports', '/api/v1/jobs');
      toast({ title: t('undoBegun') });
      setAsking(false);
    },
  );
  if (!may || one.undo !== null || one.undoable_until === null || isRunning(one.status)) return null;
  return (
    <>
      <Button size="small" icon="undo" onClick={() => setAsking(true)}>
        {t('undo')}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={() => {
          setAsking(false);
          undo.reset();
        }}
        title={t('undoTitle', { name: one.file_name ?? t('noName') })}
        consequence={
          <>
            <p>{t('undoText')}</p>
            <p>{t('undoUntil', { date: formatDay(one.undoable_until) })}</p>
            {undo.error !== null && <p role="alert">{describe(undo.error)?.detail}</p>}
          </>
        }
        action={t('undo')}
        busy={undo.busy}
        onConfirm={() => void undo.submit(one.id)}
      />
    </>
  );
}
