import { useId, useState } from 'react';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card } from '@/ui/page';
import { t } from './messages';
import type { Org } from './org';
import { Stale, useSaveOrg } from './saveorg';

/** NameCard changes the org's name. */
export function NameCard({ answer }: { answer: Answer<Org> }) {
  const form = useId();
  const [typed, setTyped] = useState<string | null>(null);
  const save = useSaveOrg(answer, t('nameSaved'));
  const name = typed ?? answer.data.name;
  const submit = async () => {
    if ((await save.submit({ name })) !== undefined) setTyped(null);
  };
  return (
    <Card
      title={t('name')}
      foot={
        <Button type="submit" form={form} kind="primary" busy={save.busy} disabled={name === answer.data.name}>
          {t('saveName')}
        </Button>
      }
    >
      <Form id={form} problem={save.stale ? null : describe(save.error)} onSubmit={() => void submit()}>
        {save.stale && (
          <Stale
            mine={name}
            theirs={save.stale.theirs.data.name}
            busy={save.busy}
            onMine={() => void save.overwrite({ name }).then((done) => done && setTyped(null))}
            onTheirs={() => {
              setTyped(null);
              save.takeTheirs();
            }}
          />
        )}
        <Field label={t('name')} hideLabel pointer="/name" help={t('nameHelp')}>
          <Input value={name} autoComplete="organization" onChange={(event) => setTyped(event.target.value)} />
        </Field>
      </Form>
    </Card>
  );
}
