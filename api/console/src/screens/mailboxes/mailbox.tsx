import { useNavigate, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { useCommands } from '@/app/commands';
import { Failure } from '@/app/failure';
import type { Answer } from '@/lib/api';
import { useRead } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { Button, IconButton } from '@/ui/button';
import { ConfirmDialog } from '@/ui/dialog';
import { Callout, Skeleton } from '@/ui/feedback';
import { Menu, type MenuEntry } from '@/ui/menu';
import { Card, Facts, PageHead } from '@/ui/page';
import { Status } from '@/ui/status';
import { Time } from '@/ui/time';
import styles from '../mail/mail.module.css';
import { mayResume, useMailboxActions } from './actions';
import { DomainCard } from './domain';
import { InboxCard } from './inbox';
import { LimitsCard } from './limits';
import { t } from './messages';
import { ProviderCard } from './provider';
import { SenderCard, ServersCard, TrackingCard } from './sender';
import { limits, mailboxName, mailboxStatus, rateText, rateTone, stateText, type Mailbox } from './words';

const listPath = '/app/settings/mailboxes';

/** MailboxPage shows one mailbox: whether it sends and why not, its domain, limits, servers and tracking. */
export function MailboxPage() {
  const { id } = useParams({ from: '/app/settings/mailboxes/$id' });
  const read = useRead('/api/v1/mailboxes/{id}', { path: { id } });
  const navigate = useNavigate();
  const before = <IconButton icon="left" label={t('title')} onClick={() => void navigate({ to: listPath })} />;
  if (read.error !== null && read.data === undefined) return <Failure error={read.error} again={read.again} />;
  if (read.answer === undefined) {
    return (
      <>
        <PageHead before={before} title={<span className={styles.wait}><Skeleton width={240} /></span>} />
        <div className={styles.cards}>
          <Card title={t('state')}>
            <Skeleton width="60%" />
          </Card>
          <Card title={t('domain')}>
            <Skeleton width="80%" />
          </Card>
        </div>
      </>
    );
  }
  return <Loaded answer={read.answer} before={before} />;
}

function Loaded({ answer, before }: { answer: Answer<Mailbox>; before: ReactNode }) {
  const one = answer.data;
  const isAdmin = useMay('admin');
  const navigate = useNavigate();
  const [removing, setRemoving] = useState(false);
  const { busy, test, hold, resume, archive } = useMailboxActions();
  const state = mailboxStatus(one);
  const why = stateText(one);
  const testing = { label: t('test'), icon: 'bolt', onSelect: () => void test(one) } as const;
  const items: MenuEntry[] = [
    testing,
    ...(one.status === 'active' ? [{ label: t('hold'), icon: 'pause' as const, onSelect: () => void hold(one) }] : []),
    ...(mayResume(one) ? [{ label: t('resume'), icon: 'play' as const, onSelect: () => void resume(one) }] : []),
    null,
    { label: t('archive'), icon: 'archive', danger: true, onSelect: () => setRemoving(true) },
  ];
  useCommands(
    isAdmin
      ? [
          { id: 'mailbox.test', label: t('test'), icon: 'bolt', keys: 't', run: () => void test(one) },
          ...(mayResume(one)
            ? [{ id: 'mailbox.resume', label: t('resume'), icon: 'play' as const, run: () => void resume(one) }]
            : []),
        ]
      : [],
  );
  const act = mayResume(one) ? (
    <Button size="small" busy={busy === 'resume'} onClick={() => void resume(one)}>
      {t('resume')}
    </Button>
  ) : (
    <Button size="small" busy={busy === 'test'} onClick={() => void test(one)}>
      {t('test')}
    </Button>
  );
  return (
    <>
      <PageHead
        before={before}
        title={mailboxName(one)}
        count={<Status tone={state.tone}>{state.word}</Status>}
      >
        {isAdmin && (
          <Menu
            align="end"
            trigger={
              <Button size="small" after="down">
                {t('actions')}
              </Button>
            }
            items={items}
          />
        )}
      </PageHead>
      <div className={styles.cards}>
        {why !== undefined && (
          <Callout tone={one.status === 'active' ? 'warn' : state.tone} title={state.word} {...(isAdmin && { action: act })}>
            <p>{why}</p>
          </Callout>
        )}
        <StateCard one={one} />
        <DomainCard one={one} />
        <SenderCard answer={answer} isAdmin={isAdmin} />
        <LimitsCard answer={answer} isAdmin={isAdmin} />
        {one.kind === 'smtp' && isAdmin && <ServersCard answer={answer} />}
        <InboxCard one={one} isAdmin={isAdmin} />
        {one.kind === 'smtp' && <ProviderCard one={one} isAdmin={isAdmin} />}
        <TrackingCard answer={answer} isAdmin={isAdmin} />
      </div>
      <ConfirmDialog
        open={removing}
        onClose={() => setRemoving(false)}
        title={t('archiveTitle', { name: mailboxName(one) })}
        consequence={t('archiveText')}
        action={t('archive')}
        busy={busy === 'archive'}
        onConfirm={() =>
          void archive(one).then((done) => {
            setRemoving(false);
            if (done) void navigate({ to: listPath });
          })
        }
      />
    </>
  );
}

function StateCard({ one }: { one: Mailbox }) {
  const rate = (value: number | null, { warn, bad }: { warn: number; bad: number }) => {
    const text = rateText(value);
    return text === undefined ? t('none') : <Status tone={rateTone(value, warn, bad)}>{text}</Status>;
  };
  return (
    <Card title={t('state')}>
      <Facts
        facts={[
          [t('address'), one.from_email],
          [t('kind'), t(one.kind)],
          [
            t('sent'),
            one.daily_cap === null
              ? one.sent_24h.toLocaleString('en')
              : t('sentOf', { count: one.sent_24h, cap: one.daily_cap }),
          ],
          [t('bounces'), rate(one.health.bounce_rate, limits.bounce)],
          [t('complaints'), rate(one.health.complaint_rate, limits.complaint)],
          ...(one.status === 'held'
            ? [[t('heldUntil'), one.held_until === null ? t('untilResumed') : <Time at={one.held_until} />] as const]
            : []),
          [t('nextSlot'), one.next_slot_at === null ? t('anyTime') : <Time at={one.next_slot_at} />],
          [t('checked'), one.checked_at === null ? t('never') : <Time at={one.checked_at} />],
        ]}
      />
      <p className="meta">{t('healthHelp')}</p>
    </Card>
  );
}
