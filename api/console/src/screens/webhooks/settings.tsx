import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useWaitAfter } from '@/app/failure';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { saveEdit, StaleError } from '@/lib/edit';
import { messages } from '@/lib/messages';
import { invalidate } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Id } from '@/ui/copy';
import { Callout } from '@/ui/feedback';
import { Form } from '@/ui/form';
import { Card, Facts } from '@/ui/page';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import type { EventTypeSelector } from './types';
import { parseRateLimit, type WebhookFields } from './fields';
import { WebhookFieldset } from './form';
import { WebhookFrame } from './frame';
import { t as shared } from './messages';
import { RotateDialog } from './rotate';
import { Snippets } from './snippets';
import { eventsWord, type Webhook } from './words';
import styles from './webhooks.module.css';

const t = messages({
  settings: 'Settings',
  save: 'Save webhook',
  saveIn: 'Save webhook in {count} s',
  saved: 'Webhook saved',
  noEvents: 'Choose at least one event type, or all events.',
  stale: 'Somebody else changed this webhook meanwhile',
  staleText: 'Both of you changed: {fields}. Which version is to stay?',
  mine: 'Keep mine',
  theirs: 'Take theirs',
  secret: 'Signing secret',
  secretText: 'It was shown when it was made. If it is lost or has leaked, rotate it.',
  verify: 'Verify what arrives',
  id: 'Id',
  created: 'Created',
  updated: 'Changed',
  role: 'Admins and owners change webhooks. Your role is {role}.',
});

/** WebhookSettings edits one webhook. */
export function WebhookSettings() {
  const { id } = useParams({ from: '/app/settings/integrations/webhooks/$id/settings' });
  return (
    <WebhookFrame id={id} section={t('settings')}>
      {(hook, answer) => <Settings key={id} hook={hook} answer={answer} />}
    </WebhookFrame>
  );
}

function Settings({ hook, answer }: { hook: Webhook; answer: Answer<Webhook> }) {
  const isAdmin = useMay('admin');
  const { role } = useScope();
  const [rotating, setRotating] = useState(false);
  return (
    <div className={styles.cards}>
      <Card title={t('settings')}>
        {isAdmin ? (
          <EditForm answer={answer} />
        ) : (
          <>
            <p className={styles.intro}>{t('role', { role })}</p>
            <Facts
              facts={[
                [shared('endpoint'), hook.url],
                [shared('events'), hook.events.includes('*') ? eventsWord(hook.events) : hook.events.join(', ')],
                [shared('rate'), hook.rate_limit === null ? shared('noLimit') : shared('perSecond', { count: hook.rate_limit })],
                [shared('description'), hook.description],
              ]}
            />
          </>
        )}
      </Card>
      <Card
        title={t('secret')}
        actions={
          isAdmin && (
            <Button size="small" icon="key" onClick={() => setRotating(true)}>
              {shared('rotate')}
            </Button>
          )
        }
      >
        <p className={styles.plain}>{t('secretText')}</p>
      </Card>
      <Card title={t('verify')} actions={<a href="/docs/webhooks">{shared('guide')}</a>}>
        <Snippets />
      </Card>
      <Facts
        facts={[
          [t('id'), <Id key="id" id={hook.id} />],
          [t('created'), <Time key="created" at={hook.created_at} />],
          [t('updated'), <Time key="updated" at={hook.updated_at} />],
        ]}
      />
      {rotating && <RotateDialog hook={hook} onClose={() => setRotating(false)} />}
    </div>
  );
}

const fieldsOf = (hook: Webhook): WebhookFields => ({
  url: hook.url,
  events: hook.events,
  description: hook.description,
  rateLimit: hook.rate_limit === null ? '' : String(hook.rate_limit),
});

function EditForm({ answer }: { answer: Answer<Webhook> }) {
  const api = useApi();
  const scope = useScope();
  const [base, setBase] = useState(answer);
  const [fields, setFields] = useState(() => fieldsOf(answer.data));
  const path = { id: base.data.id };
  const save = useSubmit(
    ({ changes, from }: { changes: Partial<Webhook>; from: Answer<Webhook> }, idempotencyKey) =>
      saveEdit(from, changes, {
        patch: (_, ifMatch) => api.patch('/api/v1/webhooks/{id}', { path, body: changes, ifMatch, idempotencyKey }),
        get: () => api.get('/api/v1/webhooks/{id}', { path }),
      }),
    (saved) => {
      setBase(saved);
      setFields(fieldsOf(saved.data));
      invalidate(scope, '/api/v1/webhooks');
      toast({ title: t('saved') });
    },
  );
  const wait = useWaitAfter(save.error);
  const rate = parseRateLimit(fields.rateLimit);
  const changes = (from: Webhook): Partial<Webhook> => ({
    ...(fields.url.trim() !== from.url && { url: fields.url.trim() }),
    ...(String(fields.events) !== String(from.events) && { events: fields.events as EventTypeSelector[] }),
    ...(fields.description !== from.description && { description: fields.description }),
    ...(rate !== undefined && rate !== from.rate_limit && { rate_limit: rate }),
  });
  const isValid = fields.events.length > 0 && rate !== undefined;
  const isChanged = Object.keys(changes(base.data)).length > 0;
  const submit = () => {
    if (isValid && isChanged && wait === 0) void save.submit({ changes: changes(base.data), from: base });
  };
  const stale = save.error instanceof StaleError ? save.error : null;
  return (
    <Form onSubmit={submit} problem={stale === null ? describe(save.error) : null} label={t('settings')}>
      {stale !== null && (
        <Stale
          mine={fields}
          stale={stale.theirs}
          conflicts={stale.conflicts}
          onTake={(theirs) => {
            setBase(theirs);
            setFields(fieldsOf(theirs.data));
            save.reset();
          }}
          onKeep={(theirs) => {
            setBase(theirs);
            void save.submit({ changes: changes(theirs.data), from: theirs });
          }}
        />
      )}
      <WebhookFieldset
        value={fields}
        onChange={setFields}
        eventsError={fields.events.length === 0 ? t('noEvents') : undefined}
      />
      <div className={styles.buttons}>
        <Button kind="primary" type="submit" busy={save.busy} disabled={!isValid || !isChanged || wait > 0}>
          {wait > 0 ? t('saveIn', { count: wait }) : t('save')}
        </Button>
      </div>
    </Form>
  );
}

/** Stale shows both versions of what two people changed. */
function Stale({ mine, stale, conflicts, onKeep, onTake }: {
  mine: WebhookFields;
  stale: Answer<Webhook>;
  conflicts: readonly string[];
  onKeep: (theirs: Answer<Webhook>) => void;
  onTake: (theirs: Answer<Webhook>) => void;
}) {
  const both: [keyof WebhookFields, string][] = [
    ['url', 'url'],
    ['events', 'events'],
    ['description', 'description'],
    ['rateLimit', 'rate_limit'],
  ];
  const theirs = fieldsOf(stale.data);
  return (
    <Callout tone="warn" title={t('stale')}>
      <p className={styles.plain}>{t('staleText', { fields: conflicts.join(', ') })}</p>
      <Facts
        facts={both
          .filter(([, wire]) => conflicts.includes(wire))
          .flatMap(([field, wire]) => [
            [`${wire}, ${t('mine').toLowerCase()}`, String(mine[field])] as const,
            [`${wire}, ${t('theirs').toLowerCase()}`, String(theirs[field])] as const,
          ])}
      />
      <div className={styles.buttons}>
        <Button size="small" onClick={() => onKeep(stale)}>
          {t('mine')}
        </Button>
        <Button size="small" onClick={() => onTake(stale)}>
          {t('theirs')}
        </Button>
      </div>
    </Callout>
  );
}
