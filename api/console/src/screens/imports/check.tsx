import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { invalidate, readOptions } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button, buttonLook } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { Callout, Progress } from '@/ui/feedback';
import { Form } from '@/ui/form';
import { Icon } from '@/ui/icon';
import { Card } from '@/ui/page';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import type { Target } from './mapping';
import { t } from './messages';
import { LeftOut, Mapping } from './howread';
import { Result } from './result';
import { doneOf, isRunning, type Import } from './words';
import styles from './imports.module.css';

const progressPause = 700; // milliseconds between two reads of an import's progress

/** useImport reads an import until it and its undo are over. */
export function useImport(id: string | null) {
  return useQuery({
    ...readOptions(useApi(), '/api/v1/crm/contacts/imports/{id}', { path: { id: id ?? '' } }),
    enabled: id !== null,
    refetchInterval: ({ state }) => {
      const one = state.data?.data;
      return one === undefined || isRunning(one.status) || (one.undo !== null && isRunning(one.undo.status))
        ? progressPause
        : false;
    },
  });
}

interface Sending {
  dry_run: boolean;
  suppress_events: boolean;
}

/** Check works all rows without writing, shows what the import would do, and begins it. */
export function Check({ file, mapping, onChange }: {
  file: File;
  /** Empty: the service matches the columns. */
  mapping: ReadonlyMap<string, Target>;
  /** Back to the columns. */
  onChange: () => void;
}) {
  const api = useApi();
  const scope = useScope();
  const navigate = useNavigate();
  const [quiet, setQuiet] = useState(false);
  const send = ({ dry_run, suppress_events }: Sending, idempotencyKey: string) => {
    const body = new FormData();
    if (mapping.size > 0) body.set('mapping', JSON.stringify(Object.fromEntries(mapping)));
    body.set('dry_run', String(dry_run));
    body.set('suppress_events', String(suppress_events));
    body.set('file', file, file.name);
    return api.post('/api/v1/crm/contacts/imports', { body, idempotencyKey });
  };
  const [id, setId] = useState<string | null>(null);
  const check = useSubmit(send, ({ data }) => setId(data.id));
  const start = useSubmit(send, ({ data }) => {
    invalidate(scope, '/api/v1/crm/contacts/imports', '/api/v1/jobs');
    void navigate({ to: '/app/imports/$id', params: { id: data.id }, replace: true });
  });
  const again = () => void check.submit({ dry_run: true, suppress_events: false });
  useEffect(again, []);
  const result = useImport(id);
  const one = result.data?.data;
  if (check.error !== null) return <Refused error={check.error} again={again} onChange={onChange} />;
  if (result.error !== null) return <Failure error={result.error} again={() => void result.refetch()} />;
  if (one === undefined) return <Progress label={t('uploading')} value={0} detail="" tone="busy" />;
  if (isRunning(one.status)) {
    return (
      <Progress
        label={t('checking')}
        value={doneOf(one)}
        tone="busy"
        {...(one.rows_total > 0 && { max: one.rows_total })}
      />
    );
  }
  if (one.status === 'failed') {
    return (
      <Callout tone="bad" title={t('checkFailed')} action={<Button onClick={onChange}>{t('change')}</Button>}>
        {one.error}
      </Callout>
    );
  }
  const good = one.rows_created + one.rows_updated + one.rows_unchanged;
  return (
    <Form
      className={styles.form}
      problem={isPlanLimit(start.error) ? null : describe(start.error)}
      onSubmit={() => good > 0 && void start.submit({ dry_run: false, suppress_events: quiet })}
    >
      <PlanLimit error={start.error} />
      <Card title={t('checked')}>
        <Result one={one} />
      </Card>
      <Errors one={one} />
      {mapping.size === 0 && <Mapping one={one} />}
      <LeftOut one={one} />
      <Checkbox label={t('quiet')} help={t('quietHelp')} checked={quiet} onChange={setQuiet} />
      <div className={styles.buttons}>
        <Button kind="primary" type="submit" busy={start.busy} disabled={good === 0}>
          {good === 0 ? t('nothing') : t('start', { count: good })}
        </Button>
        <Button onClick={onChange}>{t('change')}</Button>
      </div>
    </Form>
  );
}

/** Errors leads to the rows that were refused, and to the warnings about the others. */
export function Errors({ one }: { one: Import }) {
  return (
    <>
      <Refusals one={one} />
      <Warnings one={one} />
    </>
  );
}

/** Warnings leads to the cells that are left out. */
function Warnings({ one }: { one: Import }) {
  if (one.warnings_count === 0) return null;
  return (
    <Callout
      title={t('warnings')}
      {...(one.warnings_url !== null && {
        action: (
          <a href={one.warnings_url} className={buttonLook({ size: 'small' })}>
            <Icon name="exports" />
            {t('downloadWarnings')}
          </a>
        ),
      })}
    >
      {t('warningsText', { count: one.warnings_count })}
    </Callout>
  );
}

function Refusals({ one }: { one: Import }) {
  if (one.rows_failed === 0) return null;
  return (
    <Callout
      tone="warn"
      title={t('refused')}
      {...(one.errors_url !== null && {
        action: (
          <a href={one.errors_url} className={buttonLook({ size: 'small' })}>
            <Icon name="exports" />
            {t('downloadErrors')}
          </a>
        ),
      })}
    >
      {t('refusedText', { count: one.rows_failed })}
    </Callout>
  );
}

function Refused({ error, again, onChange }: { error: unknown; again: () => void; onChange: () => void }) {
  const problem = describe(error);
  if (isPlanLimit(error)) return <PlanLimit error={error} />;
  if (problem?.errors === undefined || problem.errors.length === 0) return <Failure error={error} again={again} />;
  return (
    <Callout tone="bad" title={problem.detail} action={<Button onClick={onChange}>{t('change')}</Button>}>
      <ul>
        {problem.errors.map((one) => (
          <li key={one.detail}>{one.detail}</li>
        ))}
      </ul>
    </Callout>
  );
}
