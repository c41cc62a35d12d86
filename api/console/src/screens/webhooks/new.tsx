import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { Failure, useWaitAfter } from '@/app/failure';
import { describe } from '@/lib/describe';
import { messages } from '@/lib/messages';
import type { Result } from '@/lib/operations';
import { isProblem } from '@/lib/problem';
import { invalidate, useRead } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button, buttonLook } from '@/ui/button';
import { JsonView } from '@/ui/code';
import { Secret } from '@/ui/copy';
import { Callout, EmptyState, Skeleton } from '@/ui/feedback';
import { Form } from '@/ui/form';
import { Card, Facts, PageHead } from '@/ui/page';
import { Select } from '@/ui/select';
import type { EventTypeSelector } from './types';
import { parseRateLimit, type WebhookFields } from './fields';
import { WebhookFieldset } from './form';
import { t as shared } from './messages';
import { generated, SecretField, type SecretChoice } from './secret';
import { Snippets } from './snippets';
import { TestDialog } from './test';
import { eventsWord, nameOf } from './words';
import styles from './webhooks.module.css';

const t = messages({
  create: 'Create webhook',
  createIn: 'Create webhook in {count} s',
  cancel: 'Cancel',
  preview: 'What your endpoint gets',
  previewText: 'A POST with this body, signed in two ways.',
  sampleOf: 'Sample of',
  noEvents: 'Choose at least one event type, or all events.',
  role: 'You need another role',
  roleText: 'Admins and owners create webhooks. Your role in {org} is {role}.',
  back: 'See webhooks',
  done: 'Webhook created',
  once: 'Copy the signing secret now',
  onceText: 'It is shown this once. If it is lost, rotate it: the old one keeps signing while you change your endpoint.',
  secret: 'Signing secret',
  next: 'Send a test event',
  open: 'Open the webhook',
  endpoint: 'Endpoint',
  verify: 'Verify what arrives',
  verifyText: 'Check the signature over the body as it came, before you parse it.',
  guide: 'The whole guide',
});

type Created = Result<'post', '/api/v1/webhooks'>;

/** NewWebhook creates a webhook and then shows its secret, which lives in this component only. */
export function NewWebhook() {
  const { org, role } = useScope();
  const isAdmin = useMay('admin');
  const [created, setCreated] = useState<Created | null>(null);
  if (created !== null) return <Done created={created} />;
  if (!isAdmin) {
    return (
      <EmptyState
        icon="lock"
        title={t('role')}
        action={
          <Link to="/app/settings/integrations/webhooks" className={buttonLook({})}>
            {t('back')}
          </Link>
        }
      >
        {t('roleText', { org: org.name, role })}
      </EmptyState>
    );
  }
  return <Create onCreated={setCreated} />;
}

function Create({ onCreated }: { onCreated: (created: Created) => void }) {
  const api = useApi();
  const scope = useScope();
  const [fields, setFields] = useState<WebhookFields>({ url: '', events: [], description: '', rateLimit: '' });
  const [secret, setSecret] = useState<SecretChoice>(generated);
  const [incomplete, setIncomplete] = useState(false);
  const create = useSubmit(
    (given: { fields: WebhookFields; secret: SecretChoice }, idempotencyKey) => {
      const rate = parseRateLimit(given.fields.rateLimit);
      const body = {
        url: given.fields.url.trim(),
        events: given.fields.events as EventTypeSelector[],
        ...(given.fields.description !== '' && { description: given.fields.description }),
        ...(typeof rate === 'number' && { rate_limit: rate }),
        ...(given.secret.own && { secret: given.secret.text }),
      };
      return api.post('/api/v1/webhooks', { body, idempotencyKey });
    },
    ({ data }) => {
      invalidate(scope, '/api/v1/webhooks');
      onCreated(data);
    },
  );
  const wait = useWaitAfter(create.error);
  const isLimit = isProblem(create.error) && create.error.status === 402;
  const submit = () => {
    setIncomplete(fields.events.length === 0);
    if (fields.events.length === 0 || parseRateLimit(fields.rateLimit) === undefined || wait > 0) return;
    void create.submit({ fields, secret });
  };
  return (
    <>
      <PageHead title={shared('newWebhook')} />
      <div className={styles.split}>
        <div>
          {isLimit && <Failure error={create.error} />}
          <Form onSubmit={submit} problem={isLimit ? null : describe(create.error)} label={shared('newWebhook')}>
            <WebhookFieldset
              value={fields}
              onChange={setFields}
              autoFocus
              eventsError={incomplete && fields.events.length === 0 ? t('noEvents') : undefined}
            />
            <SecretField value={secret} onChange={setSecret} />
            <div className={styles.buttons}>
              <Button kind="primary" type="submit" busy={create.busy} disabled={wait > 0}>
                {wait > 0 ? t('createIn', { count: wait }) : t('create')}
              </Button>
              <Link to="/app/settings/integrations/webhooks" className={buttonLook({})}>
                {t('cancel')}
              </Link>
            </div>
          </Form>
        </div>
        <Preview events={fields.events} />
      </div>
    </>
  );
}

/** Preview shows the body of a chosen event type while the form is filled in. */
function Preview({ events }: { events: readonly string[] }) {
  const types = useRead('/api/v1/event-types');
  const all = useMemo(() => types.data?.data ?? [], [types.data]);
  const offered = events.includes('*') || events.length === 0 ? all : all.filter((one) => events.includes(one.type));
  const [type, setType] = useState<string | null>(null);
  const last = events.at(-1);
  useEffect(() => setType(last === undefined || last === '*' ? null : last), [last]);
  const shown = offered.find((one) => one.type === type) ?? offered[0];
  return (
    <aside className={styles.preview} aria-label={t('preview')}>
      <h2 className={styles.section}>{t('preview')}</h2>
      <p className="meta">{t('previewText')}</p>
      {shown === undefined ? (
        <Skeleton width="80%" />
      ) : (
        <>
          <Select
            label={t('sampleOf')}
            size="small"
            value={shown.type}
            onChange={setType}
            options={offered.slice(0, 80).map((one) => ({ value: one.type, label: one.type }))}
          />
          <JsonView key={shown.type} title={`POST ${shown.type}`} text={JSON.stringify(shown.sample, null, 2)} />
        </>
      )}
    </aside>
  );
}

function Done({ created }: { created: Created }) {
  const [testing, setTesting] = useState(false);
  return (
    <>
      <PageHead title={t('done')} />
      <div className={styles.cards}>
        <Callout tone="warn" title={t('once')}>
          <p>{t('onceText')}</p>
        </Callout>
        <Card
          title={t('secret')}
          foot={
            <>
              <Link
                to="/app/settings/integrations/webhooks/$id"
                params={{ id: created.id }}
                className={buttonLook({})}
              >
                {t('open')}
              </Link>
              <Button kind="primary" icon="bolt" onClick={() => setTesting(true)}>
                {t('next')}
              </Button>
            </>
          }
        >
          <div className={styles.stack}>
            <Secret label={t('secret')} value={created.secret} />
            <Facts
              facts={[
                [t('endpoint'), nameOf(created.url)],
                [shared('events'), eventsWord(created.events)],
              ]}
            />
          </div>
        </Card>
        <Card title={t('verify')} actions={<a href="/docs/webhooks">{t('guide')}</a>}>
          <p className={styles.intro}>{t('verifyText')}</p>
          <Snippets />
        </Card>
      </div>
      {testing && <TestDialog hook={created} stay onClose={() => setTesting(false)} />}
    </>
  );
}
