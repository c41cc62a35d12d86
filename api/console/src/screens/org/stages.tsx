import { useId, useState } from 'react';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { Button, IconButton } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card } from '@/ui/page';
import { t } from './messages';
import { type Org, stagesOf } from './org';
import { Stale, useSaveOrg } from './saveorg';
import { moved } from './order';
import styles from './org.module.css';

/** The stage of new contacts, which the API requires. */
const first = 'lead';

/** StagesCard edits the stages of contacts: names, order, new ones. */
export function StagesCard({ answer }: { answer: Answer<Org> }) {
  const form = useId();
  const stored = stagesOf(answer.data);
  const [edited, setEdited] = useState<string[] | null>(null);
  const save = useSaveOrg(answer, t('stagesSaved'));
  const stages = edited ?? stored;
  const change = { settings: { stages: stages.map((stage) => stage.trim()).filter((stage) => stage !== '') } };
  const isSame = JSON.stringify(stages) === JSON.stringify(stored);
  const forget = () => {
    setEdited(null);
    save.reset();
  };
  const done = (result: unknown) => result !== undefined && setEdited(null);
  return (
    <Card
      title={t('stagesTitle')}
      foot={
        <>
          {!isSame && (
            <Button kind="quiet" onClick={forget}>
              {t('discard')}
            </Button>
          )}
          <Button type="submit" form={form} kind="primary" busy={save.busy} disabled={isSame}>
            {t('saveStages')}
          </Button>
        </>
      }
    >
      <Form
        id={form}
        problem={save.stale ? null : describe(save.error)}
        onSubmit={() => void save.submit(change).then(done)}
      >
        <p className="meta">{t('stagesText')}</p>
        {save.stale && (
          <Stale
            mine={change.settings.stages.join(', ')}
            theirs={stagesOf(save.stale.theirs.data).join(', ')}
            busy={save.busy}
            onMine={() => void save.overwrite(change).then(done)}
            onTheirs={() => {
              setEdited(null);
              save.takeTheirs();
            }}
          />
        )}
        <ol className={styles.stages}>
          {stages.map((stage, i) => {
            const name = stage || t('newStage');
            const isFirst = stored.includes(first) && stage === first;
            return (
              <li key={i} className={styles.stage}>
                <Field
                  label={t('stage', { count: i + 1 })}
                  hideLabel
                  pointer={`/settings/stages/${i}`}
                  {...(isFirst && { help: t('leadStays') })}
                >
                  <Input
                    value={stage}
                    placeholder={t('newStage')}
                    readOnly={isFirst}
                    maxLength={64}
                    onChange={(event) => setEdited(stages.map((one, j) => (j === i ? event.target.value : one)))}
                  />
                </Field>
                <IconButton icon="up" label={t('moveUp', { name })} disabled={i === 0} onClick={() => setEdited(moved(stages, i, i - 1))} />
                <IconButton
                  icon="down"
                  label={t('moveDown', { name })}
                  disabled={i === stages.length - 1}
                  onClick={() => setEdited(moved(stages, i, i + 1))}
                />
                <IconButton
                  icon="trash"
                  label={t('removeStage', { name })}
                  disabled={isFirst}
                  onClick={() => setEdited(stages.filter((_, j) => j !== i))}
                />
              </li>
            );
          })}
        </ol>
        <div>
          <Button size="small" icon="plus" disabled={stages.length >= 50} onClick={() => setEdited([...stages, ''])}>
            {t('addStage')}
          </Button>
        </div>
      </Form>
    </Card>
  );
}
