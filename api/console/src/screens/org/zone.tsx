import { useId, useMemo, useState } from 'react';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { Button } from '@/ui/button';
import { Combobox } from '@/ui/combobox';
import { Field } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card } from '@/ui/page';
import { t } from './messages';
import { type Org, zoneOf } from './org';
import { Stale, useSaveOrg } from './saveorg';

const option = (zone: string) => ({ value: zone, label: zone.replaceAll('_', ' ') });

/** ZoneCard chooses the org's time zone among those that the browser knows. */
export function ZoneCard({ answer }: { answer: Answer<Org> }) {
  const form = useId();
  const stored = zoneOf(answer.data);
  const [chosen, setChosen] = useState<string | null | undefined>(undefined);
  const zone = chosen === undefined ? stored : chosen;
  const save = useSaveOrg(answer, t('zoneSaved'));
  const options = useMemo(() => ['UTC', ...Intl.supportedValuesOf('timeZone')].map(option), []);
  const change = { settings: { time_zone: zone } };
  return (
    <Card
      title={t('zoneTitle')}
      foot={
        <Button type="submit" form={form} kind="primary" busy={save.busy} disabled={zone === stored}>
          {t('saveZone')}
        </Button>
      }
    >
      <Form
        id={form}
        problem={save.stale ? null : describe(save.error)}
        onSubmit={() => void save.submit(change).then((done) => done && setChosen(undefined))}
      >
        {save.stale && (
          <Stale
            mine={zone ?? t('zoneNone')}
            theirs={zoneOf(save.stale.theirs.data) ?? t('zoneNone')}
            busy={save.busy}
            onMine={() => void save.overwrite(change).then((done) => done && setChosen(undefined))}
            onTheirs={() => {
              setChosen(undefined);
              save.takeTheirs();
            }}
          />
        )}
        <Field label={t('zone')} pointer="/settings/time_zone" help={t('zoneHelp')}>
          <Combobox
            label={t('zone')}
            options={options}
            value={zone === null ? [] : [option(zone)]}
            onChange={([next]) => setChosen(next?.value ?? null)}
            placeholder={zone === null ? t('zoneNone') : t('zoneSearch')}
          />
        </Field>
      </Form>
    </Card>
  );
}
