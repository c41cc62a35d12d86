import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { invalidate, useList, type Row } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { RadioCards } from '@/ui/choice';
import { Copy } from '@/ui/copy';
import { Dialog } from '@/ui/dialog';
import { EmptyState } from '@/ui/feedback';
import { Form } from '@/ui/form';
import { Facts, PageHead } from '@/ui/page';
import { Table, type Column, type TableHandle } from '@/ui/table';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { useMailboxes } from '../mail/choices';
import styles from '../mail/mail.module.css';
import { t } from './messages';

type Email = Row<'/api/v1/crm/emails'>;
type Evidence = Email['evidence'][number];

/** evidenceText says what was found out about an email: "Sent folder: not there". */
function evidenceText({ kind, result }: Evidence): string {
  const known = (['found', 'absent', 'sent', 'not_sent'] as const).find((one) => one === result);
  return `${t(kind)}: ${known === undefined ? result : t(known)}`;
}

/** UnknownSends lists the emails of which it is not known whether they were sent. */
export function UnknownSends() {
  const list = useList('/api/v1/crm/emails', { query: { count: 'exact', status: 'unknown' } });
  const { org, role } = useScope();
  const mayEdit = useMay('member');
  const { names } = useMailboxes();
  const table = useRef<TableHandle>(null);
  const [settling, setSettling] = useState<Email | null>(null);
  useCommands([
    { id: 'unknown.down', label: 'Next mail', keys: 'j', keyOnly: true, run: () => table.current?.move(1) },
    { id: 'unknown.up', label: 'Previous mail', keys: 'k', keyOnly: true, run: () => table.current?.move(-1) },
  ]);
  const columns: readonly Column<Email>[] = [
    {
      key: 'mail',
      title: t('mail'),
      cell: (one) => (
        <span className={styles.two}>
          <span className={styles.first}>{one.subject || t('noSubject')}</span>
          <span className={styles.second}>{one.to}</span>
        </span>
      ),
    },
    { key: 'mailbox', title: t('mailbox'), width: 176, wide: true, cell: (one) => names.get(one.mailbox_id) ?? '' },
    {
      key: 'evidence',
      title: t('evidence'),
      width: 196,
      wide: true,
      cell: (one) => one.evidence.map(evidenceText).join(', ') || <span className="meta">{t('noEvidence')}</span>,
    },
    {
      key: 'since',
      title: t('since'),
      width: 112,
      end: true,
      cell: (one) => (one.marked_at === null ? '' : <Time at={one.marked_at} />),
    },
  ];
  const isEmpty = list.complete && list.length === 0;
  return (
    <>
      <PageHead title={t('title')} count={list.total ?? undefined} />
      {!mayEdit && <p className={styles.note}>{t('mayNot', { org: org.name, role })}</p>}
      {list.error !== null && list.pending ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : isEmpty ? (
        <EmptyState icon="check" title={t('empty')} guide={{ label: t('guide'), href: '/docs/guides/email' }}>
          {t('emptyText')}
        </EmptyState>
      ) : (
        <div className={styles.part}>
          <Table
            ref={table}
            label={t('title')}
            columns={columns}
            rows={list}
            rowKey={(one) => one.id}
            onOpen={setSettling}
            loading={list.pending}
            twoLines
            {...(mayEdit && {
              actions: (one: Email) => [{ label: t('resolve'), icon: 'check' as const, onSelect: () => setSettling(one) }],
            })}
          />
        </div>
      )}
      {settling !== null && (
        <SettleDialog
          one={settling}
          mailbox={names.get(settling.mailbox_id) ?? ''}
          mayEdit={mayEdit}
          onClose={() => setSettling(null)}
        />
      )}
    </>
  );
}

function SettleDialog({ one, mailbox, mayEdit, onClose }: {
  one: Email;
  mailbox: string;
  mayEdit: boolean;
  onClose: () => void;
}) {
  const api = useApi();
  const scope = useScope();
  const [outcome, setOutcome] = useState<'sent' | 'not_sent'>('sent');
  const settle = useSubmit(
    (body: { outcome: 'sent' | 'not_sent' }, idempotencyKey) =>
      api.post('/api/v1/crm/emails/{id}/resolve', { path: { id: one.id }, body, idempotencyKey }),
    () => {
      invalidate(scope, '/api/v1/crm/emails', '/api/v1/sequences', '/api/v1/broadcasts');
      toast({ title: t('settled') });
      onClose();
    },
  );
  const submit = () => {
    if (mayEdit) void settle.submit({ outcome });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('resolveTitle', { subject: one.subject || t('noSubject') })}
      intro={t('resolveIntro', { mailbox })}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          {mayEdit && (
            <Button kind="primary" busy={settle.busy} onClick={submit}>
              {t('save')}
            </Button>
          )}
        </>
      }
    >
      <Form label={t('resolve')} problem={describe(settle.error)} onSubmit={submit}>
        <Facts
          facts={[
            [t('to'), one.to],
            ...(one.marked_at === null ? [] : [[t('since'), <Time key="at" at={one.marked_at} />] as const]),
            [
              t('messageId'),
              <span key="id" className={styles.code}>
                {one.message_id} <Copy text={one.message_id} />
              </span>,
            ],
            ...(one.smtp_reply === null ? [] : [[t('smtp'), one.smtp_reply] as const]),
            [
              t('evidence'),
              one.evidence.length === 0 ? (
                t('noEvidence')
              ) : (
                <ul key="evidence">
                  {one.evidence.map((found) => (
                    <li key={`${found.kind}${found.at}`}>
                      {evidenceText(found)}, <Time at={found.at} />
                    </li>
                  ))}
                </ul>
              ),
            ],
          ]}
        />
        {one.contact_id !== null && (
          <Link to="/app/contacts/$id" params={{ id: one.contact_id }}>
            {t('openContact')}
          </Link>
        )}
        {mayEdit && (
          <RadioCards
            label={t('outcome')}
            value={outcome}
            onChange={setOutcome}
            options={[
              { value: 'sent', label: t('wasSent'), help: t('wasSentHelp') },
              { value: 'not_sent', label: t('wasNotSent'), help: t('wasNotSentHelp') },
            ]}
          />
        )}
      </Form>
    </Dialog>
  );
}
