import { useState } from 'react';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { Button } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card, Facts } from '@/ui/page';
import styles from '../mail/mail.module.css';
import { t } from './messages';
import { useSave } from './save';
import { wholeOf } from './server';
import type { Mailbox } from './words';

const formId = 'mailbox-limits';

/** LimitsCard has the caps of a mailbox, its pauses, and the growth of a new one. */
export function LimitsCard({ answer, isAdmin }: { answer: Answer<Mailbox>; isAdmin: boolean }) {
  const one = answer.data;
  const save = useSave(answer);
  const [cap, setCap] = useState(one.daily_cap === null ? '' : String(one.daily_cap));
  const [rate, setRate] = useState(one.rate_per_second === null ? '' : String(one.rate_per_second));
  const [gap, setGap] = useState({ min: String(one.gap_seconds.min), max: String(one.gap_seconds.max) });
  const [ramps, setRamps] = useState(one.ramp !== null);
  const [ramp, setRamp] = useState({ start: String(one.ramp?.start ?? 20), step: String(one.ramp?.step ?? 5) });
  if (!isAdmin) {
    return (
      <Card title={t('caps')}>
        <Facts
          facts={[
            [t('dailyCap'), one.daily_cap ?? '–'],
            [t('rate'), one.rate_per_second ?? '–'],
            [t('gap'), `${one.gap_seconds.min} – ${one.gap_seconds.max} ${t('seconds')}`],
            [t('ramp'), one.ramp === null ? '–' : `${one.ramp.start} + ${one.ramp.step}`],
          ]}
        />
      </Card>
    );
  }
  const numbers = [cap, rate, gap.min, gap.max, ramp.start, ramp.step].map(wholeOf);
  const wrong = (text: string) => (wholeOf(text) === undefined ? t('whole') : undefined);
  const submit = () => {
    if (numbers.includes(undefined)) return;
    const [daily_cap = null, rate_per_second = null, min = null, max = null, start = null, step = null] = numbers;
    void save.submit({ daily_cap, rate_per_second, gap_seconds: { min, max }, ramp: ramps ? { start, step } : null });
  };
  return (
    <Card
      title={t('caps')}
      foot={
        <Button kind="primary" size="small" type="submit" form={formId} busy={save.busy}>
          {t('saveLimits')}
        </Button>
      }
    >
      <Form id={formId} label={t('caps')} problem={describe(save.error)} onSubmit={submit}>
        <div className={styles.pair}>
          <Field label={t('dailyCap')} pointer="/daily_cap" help={t('dailyCapHelp')} optional error={wrong(cap)}>
            <Input inputMode="numeric" className="num" value={cap} onChange={(e) => setCap(e.target.value)} />
          </Field>
          <Field label={t('rate')} pointer="/rate_per_second" optional error={wrong(rate)}>
            <Input inputMode="numeric" className="num" value={rate} onChange={(e) => setRate(e.target.value)} />
          </Field>
          <Field label={t('gapMin')} pointer="/gap_seconds/min" help={t('gapHelp')} error={wrong(gap.min)}>
            <Input
              inputMode="numeric"
              className="num"
              after={<span className={styles.unit}>{t('seconds')}</span>}
              value={gap.min}
              onChange={(e) => setGap({ ...gap, min: e.target.value })}
            />
          </Field>
          <Field label={t('gapMax')} pointer="/gap_seconds/max" error={wrong(gap.max)}>
            <Input
              inputMode="numeric"
              className="num"
              after={<span className={styles.unit}>{t('seconds')}</span>}
              value={gap.max}
              onChange={(e) => setGap({ ...gap, max: e.target.value })}
            />
          </Field>
        </div>
        <Checkbox label={t('ramp')} help={t('rampHelp')} checked={ramps} onChange={setRamps} />
        {ramps && (
          <div className={styles.pair}>
            <Field label={t('rampStart')} pointer="/ramp/start" error={wrong(ramp.start)}>
              <Input
                inputMode="numeric"
                className="num"
                after={<span className={styles.unit}>{t('perDay')}</span>}
                value={ramp.start}
                onChange={(e) => setRamp({ ...ramp, start: e.target.value })}
              />
            </Field>
            <Field label={t('rampStep')} pointer="/ramp/step" error={wrong(ramp.step)}>
              <Input
                inputMode="numeric"
                className="num"
                value={ramp.step}
                onChange={(e) => setRamp({ ...ramp, step: e.target.value })}
              />
            </Field>
          </div>
        )}
      </Form>
    </Card>
  );
}
