import { useId, useState } from 'react';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { saveEdit, StaleError } from '@/lib/edit';
import { randomId } from '@/lib/random';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button, IconButton } from '@/ui/button';
import { Callout } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card } from '@/ui/page';
import { Select } from '@/ui/select';
import { toast } from '@/ui/toast';
import { moved } from '../org/order';
import { draftOf, toStages, type Kind, type Pipeline, type StageDraft } from './draft';
import { t } from './messages';
import styles from './pipelines.module.css';

const kinds: readonly Kind[] = ['open', 'won', 'lost'];

/** Editor is the card of a pipeline while it is changed: its name and its stages, saved together. */
export function Editor({ base: first, onClose }: { base: Answer<Pipeline>; onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const form = useId();
  const [base] = useState(first);
  const { id } = base.data;
  const [name, setName] = useState(base.data.name);
  const [stages, setStages] = useState<StageDraft[]>(() => draftOf(base.data.stages));
  const change = (at: number, part: Partial<StageDraft>) =>
    setStages(stages.map((stage, i) => (i === at ? { ...stage, ...part } : stage)));
  const save = useSubmit(
    (theirs: Answer<Pipeline> | null, idempotencyKey) => {
      const from = theirs ?? base;
      const body = { name: name.trim(), stages: toStages(stages) };
      return saveEdit<Pipeline>(from, body, {
        get: () => api.get('/api/v1/crm/pipelines/{id}', { path: { id } }),
        patch: (_, ifMatch) =>
          api.patch('/api/v1/crm/pipelines/{id}', {
            path: { id },
            ifMatch,
            body,
            idempotencyKey: ifMatch === from.etag ? idempotencyKey : randomId(),
          }),
      });
    },
    () => {
      invalidate(scope, '/api/v1/crm/pipelines', '/api/v1/crm/deals');
      toast({ title: t('saved') });
      onClose();
    },
  );
  const stale = save.error instanceof StaleError ? (save.error as StaleError<Pipeline>) : null;
  const isComplete = name.trim() !== '' && stages.every((stage) => stage.name.trim() !== '');
  return (
    <Card
      title={base.data.name}
      foot={
        <>
          <Button kind="quiet" onClick={onClose}>
            {t('cancel')}
          </Button>
          <Button kind="primary" type="submit" form={form} busy={save.busy} disabled={!isComplete}>
            {t('save')}
          </Button>
        </>
      }
    >
      <Form id={form} problem={stale ? null : describe(save.error)} onSubmit={() => void save.submit(null)}>
        {stale !== null && (
          <Callout
            tone="warn"
            title={t('conflict')}
            action={
              <>
                <Button size="small" onClick={onClose}>
                  {t('takeTheirs')}
                </Button>
                <Button size="small" onClick={() => void save.submit(stale.theirs)}>
                  {t('keepMine')}
                </Button>
              </>
            }
          >
            {t('theirs', { stages: stale.theirs.data.stages.map((stage) => stage.name).join(', ') })}
          </Callout>
        )}
        <Field label={t('name')} pointer="/name">
          <Input value={name} maxLength={200} autoComplete="off" onChange={(event) => setName(event.target.value)} />
        </Field>
        <fieldset className={styles.fieldset}>
          <legend>{t('stages')}</legend>
          <ol className={styles.drafts}>
            {stages.map((stage, i) => {
              const label = stage.name || t('newStage');
              return (
                <li key={stage.id ?? `new ${i}`} className={styles.draft}>
                  <Field label={t('stage', { count: i + 1 })} hideLabel pointer={`/stages/${i}/name`}>
                    <Input
                      value={stage.name}
                      placeholder={t('newStage')}
                      maxLength={200}
                      autoComplete="off"
                      onChange={(event) => change(i, { name: event.target.value })}
                    />
                  </Field>
                  <Field label={t('kind', { count: i + 1 })} hideLabel pointer={`/stages/${i}/kind`}>
                    <Select<Kind>
                      label={t('kind', { count: i + 1 })}
                      options={kinds.map((value) => ({ value, label: t(value) }))}
                      value={stage.kind}
                      onChange={(kind) => change(i, { kind })}
                    />
                  </Field>
                  <Field label={t('chance', { count: i + 1 })} hideLabel pointer={`/stages/${i}/probability`}>
                    <Input
                      className="num"
                      inputMode="numeric"
                      maxLength={3}
                      readOnly={stage.kind !== 'open'}
                      value={stage.kind === 'won' ? '100' : stage.kind === 'lost' ? '0' : stage.chance}
                      after={<span className={styles.unit}>%</span>}
                      onChange={(event) => change(i, { chance: event.target.value })}
                    />
                  </Field>
                  <span className={styles.moves}>
                    <IconButton
                      icon="up"
                      label={t('moveUp', { name: label })}
                      disabled={i === 0}
                      onClick={() => setStages(moved(stages, i, i - 1))}
                    />
                    <IconButton
                      icon="down"
                      label={t('moveDown', { name: label })}
                      disabled={i === stages.length - 1}
                      onClick={() => setStages(moved(stages, i, i + 1))}
                    />
                    <IconButton
                      icon="trash"
                      label={t('removeStage', { name: label })}
                      disabled={stages.length === 1}
                      onClick={() => setStages(stages.filter((_, j) => j !== i))}
                    />
                  </span>
                </li>
              );
            })}
          </ol>
          <div>
            <Button
              size="small"
              icon="plus"
              disabled={stages.length >= 50}
              onClick={() => setStages([...stages, { name: '', kind: 'open', chance: '50' }])}
            >
              {t('addStage')}
            </Button>
          </div>
        </fieldset>
      </Form>
    </Card>
  );
}
