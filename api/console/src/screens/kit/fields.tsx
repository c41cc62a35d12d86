import { useState } from 'react';
import { Button } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { RadioCards, Switch } from '@/ui/choice';
import { Combobox } from '@/ui/combobox';
import { Secret } from '@/ui/copy';
import { Field, Input, Textarea } from '@/ui/field';
import { Form } from '@/ui/form';
import { Select, type Option } from '@/ui/select';
import styles from './kit.module.css';

const stages = ['Subscriber', 'Lead', 'MQL', 'SQL', 'Opportunity', 'Customer'].map((label) => ({
  value: label.toLowerCase(),
  label,
}));

const problem = {
  title: 'The webhook was not saved',
  detail: 'Correct two fields and save again.',
  request_id: '0190a6f2-7b1c-7d3e-9f00-3b5e8a1c2d4f',
  errors: [
    { pointer: '/url', detail: 'The address must begin with https://.' },
    { pointer: '/events', detail: 'Choose at least one event.' },
  ],
};

export function Fields() {
  const [failed, setFailed] = useState(false);
  const [stage, setStage] = useState('lead');
  const [tags, setTags] = useState<Option[]>([{ value: 'vip', label: 'vip' }]);
  const [on, setOn] = useState(true);
  const [period, setPeriod] = useState<'month' | 'year'>('year');
  return (
    <section className={styles.part}>
      <h2>Fields</h2>
      <div className={styles.columns}>
        <Form label="Webhook" onSubmit={() => setFailed(true)} problem={failed ? problem : null}>
          <Field label="Endpoint address" pointer="/url" help="Must answer 2xx within 10 seconds.">
            <Input type="url" placeholder="https://" mono />
          </Field>
          <Field label="Description" optional>
            <Textarea placeholder="What the receiver does with it" />
          </Field>
          <Field label="Events" pointer="/events">
            <Combobox
              label="Events"
              multiple
              options={['contact.created', 'contact.updated', 'deal.won', 'plan.changed'].map((value) => ({
                value,
                label: value,
              }))}
              value={tags}
              onChange={setTags}
              onCreate={(text) => setTags([...tags, { value: text, label: text }])}
            />
          </Field>
          <div className={styles.row}>
            <Button kind="primary" type="submit">
              Create webhook
            </Button>
            <Button onClick={() => setFailed(false)}>Reset</Button>
          </div>
        </Form>
        <div className={styles.stack}>
          <Field label="Stage">
            <Select label="Stage" options={stages} value={stage} onChange={setStage} />
          </Field>
          <Field label="Time zone" help="Used for sending windows.">
            <Input disabled defaultValue="Europe/Berlin" />
          </Field>
          <Field label="Find a contact" hideLabel>
            <Input icon="search" placeholder="Find a contact" />
          </Field>
          <Checkbox label="Send a test event after saving" checked={on} onChange={setOn} />
          <Switch label="Webhook enabled" help="Events wait while it is off." checked={on} onChange={setOn} />
          <RadioCards
            label="Billing period"
            value={period}
            onChange={setPeriod}
            options={[
              { value: 'month', label: 'Monthly', help: '$79.00 a month' },
              { value: 'year', label: 'Yearly', help: '$758.40 a year, 20 % less' },
            ]}
          />
          <Secret label="Signing secret" value="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" />
        </div>
      </div>
    </section>
  );
}
