import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { describe } from '@/lib/describe';
import type { Options, Result } from '@/lib/operations';
import { invalidate, readOptions } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Segments } from '@/ui/choice';
import { Dialog } from '@/ui/dialog';
import { Progress } from '@/ui/feedback';
import { Field } from '@/ui/field';
import { Form } from '@/ui/form';
import { Select, type Option } from '@/ui/select';
import { toast } from '@/ui/toast';
import { ContactChoice } from '../mail/contactchoice';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { useSegments } from '../record/directory';
import { countResults, type Outcome } from './outcome';
import { t } from './messages';
import type { Sequence } from './steps';
import { reasonWord } from './words';
import styles from './sequences.module.css';

type Body = Options<'post', '/api/v1/sequences/{id}/enroll'>['body'];
type Batch = NonNullable<Result<'post', '/api/v1/sequences/{id}/enroll'>['batch']>;

/** Contacts that were selected elsewhere. */
export interface Selected {
  body: { contact_ids: string[] } | { filter: { [key: string]: unknown } };
  count: number;
}

/** Enrol is the dialog that enrols contacts: those that are chosen, or a segment, each after a look at who is left out. */
export function Enrol({ sequence, selected, onClose }: {
  sequence: Pick<Sequence, 'id' | 'name'>;
  selected?: Selected;
  onClose: () => void;
}) {
  const api = useApi();
  const scope = useScope();
  const [whom, setWhom] = useState<'contacts' | 'segment'>('contacts');
  const [chosen, setChosen] = useState<readonly Option[]>([]);
  const [segment, setSegment] = useState<string | null>(null);
  const [checked, setChecked] = useState<Outcome | null>(null);
  const [batch, setBatch] = useState<Batch | null>(null);
  const segments = useSegments();
  const path = { id: sequence.id };
  const isReady = selected !== undefined || (whom === 'contacts' ? chosen.length > 0 : segment !== null);
  const own: Body = whom === 'contacts' ? { contact_ids: chosen.map((one) => one.value) } : { segment };
  const selection = selected?.body ?? own;
  const send = useSubmit(
    (dryRun: boolean, idempotencyKey) =>
      api.post('/api/v1/sequences/{id}/enroll', {
        path,
        body: { ...selection, dry_run: dryRun },
        idempotencyKey,
      }),
    ({ data }, dryRun) => {
      if (data.batch !== undefined) {
        setBatch(data.batch);
        return;
      }
      const outcome = countResults(data.data ?? []);
      if (dryRun) {
        setChecked(outcome);
        return;
      }
      finish(outcome);
    },
  );
  const finish = (outcome: Outcome) => {
    invalidate(scope, '/api/v1/sequences');
    toast({
      title: t('enrolled', { count: outcome.enrolled }),
      ...(outcome.skipped > 0 && { detail: t('leftOut', { count: outcome.skipped }) }),
    });
    onClose();
  };
  const change = () => setChecked(null);
  const count = selected?.count ?? chosen.length;
  const verb =
    selected === undefined && whom === 'segment'
      ? t('enrolSegment')
      : count === 0
        ? t('enrol')
        : t('enrolCount', { count });
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('enrolTitle', { name: sequence.name })}
      keep={chosen.length > 0}
      foot={
        batch === null && (
          <>
            <Button disabled={!isReady} busy={send.busy} onClick={() => void send.submit(true)}>
              {t('check')}
            </Button>
            <Button kind="primary" disabled={!isReady} busy={send.busy} onClick={() => void send.submit(false)}>
              {verb}
            </Button>
          </>
        )
      }
    >
      {batch !== null ? (
        <BatchProgress
          batch={batch}
          onDone={(outcome, dryRun) => {
            setBatch(null);
            if (dryRun) setChecked(outcome);
            else finish(outcome);
          }}
        />
      ) : (
        <Form
          label={t('enrol')}
          problem={isPlanLimit(send.error) ? null : describe(send.error)}
          onSubmit={() => isReady && void send.submit(false)}
        >
          <PlanLimit error={send.error} />
          {selected === undefined && (
            <Segments
              label={t('whom')}
              value={whom}
              onChange={(next) => {
                setWhom(next);
                change();
              }}
              options={[
                { value: 'contacts', label: t('byHand') },
                { value: 'segment', label: t('bySegment') },
              ]}
            />
          )}
          {selected !== undefined ? null : whom === 'contacts' ? (
            <Field label={t('contacts')} pointer="/contact_ids">
              <ContactChoice
                label={t('contacts')}
                placeholder={t('findContacts')}
                multiple
                value={chosen}
                onChange={(next) => {
                  setChosen(next);
                  change();
                }}
              />
            </Field>
          ) : (
            <Field label={t('segment')} pointer="/segment">
              <Select
                label={t('segment')}
                placeholder={t('chooseSegment')}
                options={segments}
                value={segment}
                onChange={(next) => {
                  setSegment(next);
                  change();
                }}
              />
            </Field>
          )}
          {checked !== null && <OutcomeView outcome={checked} />}
        </Form>
      )}
    </Dialog>
  );
}

/** OutcomeView shows how many contacts would be enrolled, and the others by reason. */
function OutcomeView({ outcome }: { outcome: Outcome }) {
  return (
    <div className={styles.audience} role="status">
      <strong>{t('wouldEnrol', { count: outcome.enrolled })}</strong>
      {outcome.skipped > 0 && (
        <>
          <span className="meta">{t('wouldSkip', { count: outcome.skipped })}</span>
          <dl className={styles.reasons}>
            {Object.entries(outcome.reasons).map(([reason, count]) => (
              <div key={reason} style={{ display: 'contents' }}>
                <dt>{reasonWord(reason)}</dt>
                <dd>{count.toLocaleString('en')}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
    </div>
  );
}

/** BatchProgress follows the enrolment of a segment until it is over. */
function BatchProgress({ batch, onDone }: {
  batch: Batch;
  onDone: (outcome: Outcome, dryRun: boolean) => void;
}) {
  const api = useApi();
  const path = { id: batch.sequence_id, batch: batch.id };
  const query = useQuery({
    ...readOptions(api, '/api/v1/sequences/{id}/batches/{batch}', { path }),
    refetchInterval: ({ state }) => (state.data?.data.status === 'running' || !state.data ? 700 : false),
  });
  const now = query.data?.data ?? batch;
  const announced = useRef(false);
  useEffect(() => {
    if (now.status === 'running' || announced.current) return;
    announced.current = true;
    const skipped = Object.values(now.skipped).reduce((sum, count) => sum + count, 0);
    onDone({ enrolled: now.enrolled, skipped, reasons: now.skipped }, now.dry_run);
  }, [now, onDone]);
  return (
    <Progress
      label={now.dry_run ? t('checking') : t('running')}
      value={now.done}
      {...(now.total > 0 && { max: now.total })}
    />
  );
}
