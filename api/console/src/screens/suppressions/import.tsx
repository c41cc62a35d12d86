import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { describe } from '@/lib/describe';
import { invalidate, readOptions } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { RadioCards } from '@/ui/choice';
import { Dialog } from '@/ui/dialog';
import { Callout, Progress } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { purposes, type Purpose } from './dialogs';
import { t } from './messages';

/** ImportDialog brings the list of a previous sender as a CSV file, and shows what was refused. */
export function ImportDialog({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const [file, setFile] = useState<File | null>(null);
  const [purpose, setPurpose] = useState<Purpose>('all');
  const [id, setId] = useState<string | null>(null);
  const begin = useSubmit(
    // The file's name and time stand for its content: what is sent again under one key must be the same.
    (given: { name: string; modified: number; purpose: Purpose }, idempotencyKey) => {
      const body = new FormData();
      if (file !== null) body.append('file', file);
      body.append('purpose', given.purpose);
      return api.post('/api/v1/suppressions/imports', { body, idempotencyKey });
    },
    ({ data }) => setId(data.id),
  );
  const submit = () => {
    if (file !== null) void begin.submit({ name: file.name, modified: file.lastModified, purpose });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('importTitle')}
      intro={t('importIntro')}
      foot={
        id === null ? (
          <>
            <Button onClick={onClose}>{t('cancel')}</Button>
            <Button kind="primary" busy={begin.busy} disabled={file === null} onClick={submit}>
              {t('begin')}
            </Button>
          </>
        ) : (
          <Button onClick={onClose}>{t('close')}</Button>
        )
      }
    >
      {id !== null ? (
        <Running id={id} />
      ) : (
        <Form label={t('importTitle')} problem={describe(begin.error)} onSubmit={submit}>
          <Field label={t('file')} pointer="/file">
            <Input
              type="file"
              accept=".csv,text/csv"
              onChange={(event) => setFile(event.target.files?.[0] ?? null)}
            />
          </Field>
          <RadioCards label={t('importPurpose')} options={purposes} value={purpose} onChange={setPurpose} />
        </Form>
      )}
    </Dialog>
  );
}

function Running({ id }: { id: string }) {
  const scope = useScope();
  const query = useQuery({
    ...readOptions(useApi(), '/api/v1/suppressions/imports/{id}', { path: { id } }),
    refetchInterval: ({ state }) => (isOver(state.data?.data.status) ? false : 700),
  });
  const one = query.data?.data;
  const over = isOver(one?.status);
  useEffect(() => {
    if (over) invalidate(scope, '/api/v1/suppressions');
  }, [over, scope]);
  if (query.error !== null) return <Callout tone="bad">{describe(query.error)?.detail}</Callout>;
  if (one === undefined) return <Progress label={t('importing', { name: '' })} value={0} />;
  if (one.status === 'failed') {
    return (
      <Callout tone="bad" title={t('importFailed')}>
        {one.error}
      </Callout>
    );
  }
  const done = one.rows_added + one.rows_unchanged + one.rows_failed;
  return (
    <>
      <Progress label={t('importing', { name: one.file_name ?? '' })} value={done} max={one.rows_total} />
      {over && (
        <p role="status">
          {t('importDone', { added: one.rows_added, unchanged: one.rows_unchanged, failed: one.rows_failed })}{' '}
          {one.errors_url !== null && <a href={one.errors_url}>{t('errors')}</a>}
        </p>
      )}
    </>
  );
}

function isOver(status: string | undefined): boolean {
  return status === 'completed' || status === 'failed';
}
