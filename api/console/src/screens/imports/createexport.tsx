import { useState } from 'react';
import { describe } from '@/lib/describe';
import type { Options } from '@/lib/operations';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { RadioCards } from '@/ui/choice';
import { Combobox } from '@/ui/combobox';
import { Dialog } from '@/ui/dialog';
import { Field } from '@/ui/field';
import { Form } from '@/ui/form';
import type { Option } from '@/ui/select';
import { toast } from '@/ui/toast';
import { useSegments } from '../record/directory';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { t } from './messages';

type Body = Options<'post', '/api/v1/crm/contacts/exports'>['body'];
type Who = 'everyone' | 'segment' | 'archived';

/** CreateExport is the dialog that begins an export. */
export function CreateExport({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const segments = useSegments();
  const [format, setFormat] = useState<Body['format']>('csv');
  const [who, setWho] = useState<Who>('everyone');
  const [segment, setSegment] = useState<Option | null>(null);
  const create = useSubmit(
    (body: Body, idempotencyKey) => api.post('/api/v1/crm/contacts/exports', { body, idempotencyKey }),
    () => {
      invalidate(scope, '/api/v1/crm/contacts/exports', '/api/v1/jobs');
      toast({ title: t('exportStarted') });
      onClose();
    },
  );
  const isReady = who !== 'segment' || segment !== null;
  const submit = () =>
    isReady &&
    void create.submit({
      format,
      ...(format === 'csv' && { bom: true }), // by which spreadsheets know the encoding
      ...(who === 'archived' && { archived: true }),
      ...(who === 'segment' && segment !== null && { filter: { field: 'segment', op: 'eq', value: segment.value } }),
    });
  return (
    <Dialog open onClose={onClose} title={t('newExport')} intro={t('exportIntro', { org: scope.org.name })}>
      <Form problem={isPlanLimit(create.error) ? null : describe(create.error)} onSubmit={submit}>
        <PlanLimit error={create.error} />
        <RadioCards<Who>
          label={t('who')}
          value={who}
          onChange={setWho}
          options={[
            { value: 'everyone', label: t('everyone'), help: t('everyoneText') },
            { value: 'segment', label: t('segment'), help: t('segmentText') },
            { value: 'archived', label: t('archivedOnes') },
          ]}
        />
        {who === 'segment' && (
          <Field label={t('segment')}>
            <Combobox
              label={t('segment')}
              placeholder={t('chooseSegment')}
              options={segments}
              value={segment === null ? [] : [segment]}
              onChange={(chosen) => setSegment(chosen.at(-1) ?? null)}
            />
          </Field>
        )}
        <RadioCards<Body['format']>
          label={t('format')}
          value={format}
          onChange={setFormat}
          options={[
            { value: 'csv', label: t('csv'), help: t('csvHelp') },
            { value: 'xlsx', label: t('xlsx'), help: t('xlsxHelp') },
            { value: 'ndjson', label: t('ndjson'), help: t('ndjsonHelp') },
          ]}
        />
        <div>
          <Button kind="primary" type="submit" busy={create.busy} disabled={!isReady}>
            {t('createExport')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
