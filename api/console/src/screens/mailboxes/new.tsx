import { Link, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { Failure, useWaitAfter } from '@/app/failure';
import { describe } from '@/lib/describe';
import type { Result } from '@/lib/operations';
import { isProblem } from '@/lib/problem';
import { invalidate } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button, buttonLook } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { RadioCards } from '@/ui/choice';
import { Secret } from '@/ui/copy';
import { Callout, EmptyState } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card, PageHead } from '@/ui/page';
import styles from '../mail/mail.module.css';
import { AccountField } from './account';
import { useMailboxActions } from './actions';
import { t } from './messages';
import { imapDraft, smtpDraft, toServer } from './server';
import { ServerFields } from './serverfields';
import type { Mailbox } from './words';

type Kind = Mailbox['kind'];
type Created = Result<'post', '/api/v1/mailboxes'>;

const kinds = [
  { value: 'smtp', label: t('smtp'), help: t('smtpHelp') },
  { value: 'google', label: t('google'), help: t('googleHelp') },
  { value: 'microsoft', label: t('microsoft'), help: t('microsoftHelp') },
  { value: 'sandbox', label: t('sandbox'), help: t('sandboxHelp') },
] as const;

/** NewMailbox connects a mailbox and then shows its inbound address, which lives in this component only. */
export function NewMailbox() {
  const { org, role } = useScope();
  const isAdmin = useMay('admin');
  const [created, setCreated] = useState<Created | null>(null);
  if (created !== null) return <Done created={created} />;
  if (isAdmin) return <Create onCreated={setCreated} />;
  return (
    <EmptyState
      icon="lock"
      title={t('role')}
      action={
        <Link to="/app/settings/mailboxes" className={buttonLook({})}>
          {t('back')}
        </Link>
      }
    >
      {t('roleText', { org: org.name, role })}
    </EmptyState>
  );
}

function Create({ onCreated }: { onCreated: (created: Created) => void }) {
  const api = useApi();
  const scope = useScope();
  const search = useSearch({ from: '/app/settings/mailboxes/new' });
  const [kind, setKind] = useState<Kind>(search.kind ?? 'smtp');
  const [fields, setFields] = useState({ email: '', name: '' });
  const [smtp, setSmtp] = useState(smtpDraft);
  const [imap, setImap] = useState(imapDraft);
  const [reads, setReads] = useState(true);
  const [account, setAccount] = useState<string | null>(null);
  const create = useSubmit(
    (_: null, idempotencyKey) =>
      api.post('/api/v1/mailboxes', {
        idempotencyKey,
        body: {
          kind,
          from_email: fields.email.trim(),
          ...(fields.name.trim() !== '' && { from_name: fields.name.trim() }),
          ...(kind === 'smtp' && { smtp: toServer(smtp) }),
          ...(kind === 'smtp' && reads && imap.host.trim() !== '' && { imap: toServer(imap) }),
          ...((kind === 'google' || kind === 'microsoft') && account !== null && { social_account_id: account }),
        },
      }),
    ({ data }) => {
      invalidate(scope, '/api/v1/mailboxes');
      onCreated(data);
    },
  );
  const wait = useWaitAfter(create.error);
  const isLimit = isProblem(create.error) && create.error.status === 402;
  return (
    <>
      <PageHead title={t('create')} />
      <div className={styles.cards}>
        {isLimit && <Failure error={create.error} />}
        <Form
          label={t('create')}
          problem={isLimit ? null : describe(create.error)}
          onSubmit={() => wait === 0 && void create.submit(null)}
        >
          <div className={styles.tight}>
            <span className={styles.label}>{t('kind')}</span>
            <RadioCards label={t('kind')} value={kind} options={kinds} onChange={setKind} />
          </div>
          {(kind === 'google' || kind === 'microsoft') && (
            <AccountField
              key={kind}
              kind={kind}
              pending={search.kind === kind ? search.pending_id : undefined}
              value={account}
              onChange={(id, address) => {
                setAccount(id);
                if (fields.email === '' && address !== undefined) setFields({ ...fields, email: address });
              }}
            />
          )}
          <div className={styles.pair}>
            <Field label={t('fromEmail')} pointer="/from_email">
              <Input
                type="email"
                autoComplete="off"
                placeholder="you@example.com"
                value={fields.email}
                onChange={(event) => setFields({ ...fields, email: event.target.value })}
              />
            </Field>
            <Field label={t('fromName')} pointer="/from_name" optional>
              <Input
                autoComplete="off"
                value={fields.name}
                onChange={(event) => setFields({ ...fields, name: event.target.value })}
              />
            </Field>
          </div>
          {kind === 'smtp' && (
            <>
              <ServerFields legend={t('sending')} pointer="/smtp" value={smtp} onChange={setSmtp} />
              <Checkbox label={t('readToo')} help={t('readingHelp')} checked={reads} onChange={setReads} />
              {reads && <ServerFields legend={t('reading')} pointer="/imap" value={imap} onChange={setImap} />}
            </>
          )}
          <div className={styles.buttons}>
            <Button kind="primary" type="submit" busy={create.busy} disabled={wait > 0}>
              {wait > 0 ? t('connectIn', { count: wait }) : t('connect')}
            </Button>
            <Link to="/app/settings/mailboxes" className={buttonLook({})}>
              {t('cancel')}
            </Link>
          </div>
        </Form>
      </div>
    </>
  );
}

function Done({ created }: { created: Created }) {
  const { test, busy } = useMailboxActions();
  return (
    <>
      <PageHead title={t('done')} />
      <div className={styles.cards}>
        <Callout tone="warn" title={t('once')}>
          <p>{t('onceText')}</p>
        </Callout>
        <Card
          title={t('inbound')}
          foot={
            <>
              <Link to="/app/settings/mailboxes/$id" params={{ id: created.id }} className={buttonLook({})}>
                {t('later')}
              </Link>
              <Button kind="primary" icon="bolt" busy={busy === 'test'} onClick={() => void test(created)}>
                {t('next')}
              </Button>
            </>
          }
        >
          <Secret label={t('inbound')} value={created.inbound_url} />
        </Card>
      </div>
    </>
  );
}
