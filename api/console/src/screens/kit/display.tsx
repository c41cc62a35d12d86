import { useMemo, useState } from 'react';
import { Avatar } from '@/ui/avatar';
import { Button } from '@/ui/button';
import { Chart, Figure } from '@/ui/chart';
import { JsonView } from '@/ui/code';
import { Id } from '@/ui/copy';
import { Callout, Progress, Skeleton } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Card, Facts } from '@/ui/page';
import { ScoreRing } from '@/ui/score';
import { Badge, Count, Status } from '@/ui/status';
import { Tabs } from '@/ui/tabs';
import { Time } from '@/ui/time';
import { Timeline } from '@/ui/timeline';
import styles from './kit.module.css';

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

const event = JSON.stringify({
  id: '0190a6f2-7b1c-7d3e-9f00-3b5e8a1c2d4f',
  type: 'contact.created',
  api_version: '1',
  data: { contact: { email: 'ada@example.com', lead_score: 14.8, tag: ['vip', 'beta'], archived_at: null, opted: true } },
});

export function Display() {
  const [tab, setTab] = useState<'deliveries' | 'settings'>('deliveries');
  const points = useMemo(
    () =>
      Array.from({ length: 30 }, (_, i) => ({
        day: `2026-03-${String(i + 1).padStart(2, '0')}`,
        value: Math.round(40 + 30 * Math.sin(i / 4) + ((i * 17) % 13)),
      })),
    [],
  );
  return (
    <section className={styles.part}>
      <h2>Display</h2>
      <div className={styles.row}>
        <Status tone="good">Delivered</Status>
        <Status tone="warn">Waiting</Status>
        <Status tone="bad">Failed</Status>
        <Status tone="busy">Running</Status>
        <Status tone="off">Paused</Status>
        <Badge tone="good">Active</Badge>
        <Badge tone="warn">Trial ends in 3 days</Badge>
        <Badge tone="bad">Past due</Badge>
        <Badge tone="busy">Syncing</Badge>
        <Badge>Lead</Badge>
        <Count value={12} label="replies to read" />
        <ScoreRing score={14.8} />
        <ScoreRing score={55} />
        <ScoreRing score={92} />
        <Avatar name="Ada Lovelace" />
        <Avatar name="Grace Hopper" size="medium" />
        <Avatar name="Analytical Engines" size="large" square />
        <Id id="0190a6f2-7b1c-7d3e-9f00-3b5e8a1c2d4f" />
        <Time at={ago(7)} />
        <Time at={ago(60 * 24 * 40)} />
      </div>
      <div className={styles.columns}>
        {['New contacts', 'Deals won', 'Replies'].map((name, i) => (
          <Figure key={name} name={name} value={(4218 >> (2 * i)).toLocaleString('en')} change="+12 % in 30 days">
            <Chart label={`${name} per day`} points={points} />
          </Figure>
        ))}
      </div>
      <div className={styles.columns}>
        <div className={styles.stack}>
          <Callout tone="warn" title="This endpoint failed 14 times in a row" action={<Button size="small">Send a test</Button>}>
            It is switched off after 3 more days without a success.
          </Callout>
          <Callout tone="busy">An import is running. You can leave this page.</Callout>
          <Callout tone="bad" title="The last charge failed">
            The card ending in 4242 was declined.
          </Callout>
          <Callout tone="good">The domain is verified.</Callout>
          <Progress label="Contacts" value={4218} max={5000} tone="warn" />
          <Progress label="Importing customers.csv" value={1200} max={9800} tone="busy" detail="1,200 of 9,800 rows" />
          <Progress label="Preparing the export" value={0} detail="Counting" />
          <Skeleton width="70%" />
          <Card
            title="Organization"
            foot={
              <Button kind="primary" size="small">
                Save name
              </Button>
            }
          >
            <Field label="Name">
              <Input defaultValue="Northwind Traders" />
            </Field>
          </Card>
        </div>
        <div className={styles.stack}>
          <Tabs
            label="Webhook"
            value={tab}
            onChange={setTab}
            tabs={[
              {
                value: 'deliveries',
                label: 'Deliveries',
                count: 1204,
                content: (
                  <Timeline
                    entries={[
                      { key: '1', at: ago(12), icon: 'check', tone: 'good', title: '200 OK after 84 ms' },
                      { key: '2', at: ago(44), icon: 'error', tone: 'bad', title: '503 after 2.1 s', body: 'Next try in 5 minutes.' },
                      { key: '3', at: ago(60 * 26), icon: 'mail', title: 'Reply from Ada Lovelace' },
                      { key: '4', at: ago(60 * 27), icon: 'deals', title: 'Deal “Pilot” moved to Proposal' },
                    ]}
                  />
                ),
              },
              {
                value: 'settings',
                label: 'Settings',
                content: (
                  <Facts
                    facts={[
                      ['Address', 'https://hooks.example.com/crm'],
                      ['Created', <Time key="t" at={ago(60 * 24 * 12)} />],
                    ]}
                  />
                ),
              },
            ]}
          />
          <JsonView title="contact.created" text={event} />
        </div>
      </div>
    </section>
  );
}
