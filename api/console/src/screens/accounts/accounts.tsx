import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Failure } from '@/app/failure';
import { formatNumber } from '@/lib/intl';
import { invalidate, useList } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { Button } from '@/ui/button';
import { Callout, EmptyState, Skeleton } from '@/ui/feedback';
import { later } from '@/ui/later';
import { Menu, type MenuEntry } from '@/ui/menu';
import { PageHead } from '@/ui/page';
import { toast } from '@/ui/toast';
import { Rest, rowsOf } from '../record/rest';
import { AccountRow } from './account';
import { useConnect } from './connect';
import { t } from './messages';
import { type Account, ads, byPlatform, platformName, type Platform, social } from './platforms';
import styles from './accounts.module.css';

const Choose = later(() => import('./choose').then((m) => m.Choose));
const Disconnect = later(() => import('./disconnect').then((m) => m.Disconnect));

/** Accounts lists the connected social and ad accounts by platform, and takes the end of a login. */
export function Accounts() {
  const socials = useList('/api/v1/social/accounts', { query: {} });
  const adAccounts = useList('/api/v1/ads/accounts', { query: {} });
  const { org, role } = useScope();
  const may = useMay('admin');
  const { connect, busy } = useConnect();
  const [leaving, setLeaving] = useState<Account | null>(null);
  const { pending, endChoice } = useLoginResult();
  const accounts = [...rowsOf(socials), ...rowsOf(adAccounts)];
  const groups = byPlatform(accounts);
  const needing = accounts.filter(({ status }) => status === 'reauth_required');
  const error = socials.pending && socials.error !== null ? socials.error : adAccounts.pending ? adAccounts.error : null;
  const isPending = socials.pending || adAccounts.pending;
  const item = (platform: Platform): MenuEntry => ({
    label: platformName(platform),
    onSelect: () => void connect(platform),
  });
  const menu = (
    <Menu
      align="end"
      trigger={
        <Button kind="primary" size="small" icon="plus" after="down" busy={busy}>
          {t('connect')}
        </Button>
      }
      items={[t('social'), ...social.map(item), null, t('ads'), ...ads.map(item)]}
    />
  );
  const isEmpty = !isPending && accounts.length === 0;
  return (
    <div className={styles.page}>
      <PageHead title={t('title')} count={isPending || isEmpty ? undefined : formatNumber(accounts.length)}>
        {may && !isEmpty && menu}
      </PageHead>
      {error !== null ? (
        <Failure
          error={error}
          again={() => {
            socials.pages.retry();
            adAccounts.pages.retry();
          }}
        />
      ) : isEmpty ? (
        <div className={styles.center}>
          <EmptyState
            icon="accounts"
            title={t('empty')}
            action={may ? menu : undefined}
            guide={{ label: t('guide'), href: '/docs/guides/accounts' }}
          >
            {may ? t('emptyText') : t('admins', { org: org.name, role })}
          </EmptyState>
        </div>
      ) : isPending ? (
        <div className={styles.body}>
          <Skeleton width="60%" />
        </div>
      ) : (
        <div className={styles.body}>
          {!may && <Callout>{t('admins', { org: org.name, role })}</Callout>}
          {needing.length > 0 && (
            <Callout tone="bad" title={t('needs', { count: needing.length })}>
              {t('needsText')}
            </Callout>
          )}
          {groups.map(({ platform, accounts: own }) => (
            <section key={platform} aria-label={platformName(platform)}>
              <h2 className={styles.group}>{platformName(platform)}</h2>
              <ul className={styles.list}>
                {own.map((account) => (
                  <AccountRow
                    key={account.id}
                    account={account}
                    may={may}
                    onReconnect={() => void connect(account.platform, account.id)}
                    onDisconnect={() => setLeaving(account)}
                  />
                ))}
              </ul>
            </section>
          ))}
          <Rest list={socials} />
          <Rest list={adAccounts} />
        </div>
      )}
      {pending !== null && <Choose id={pending} onClose={endChoice} />}
      {leaving !== null && <Disconnect account={leaving} onClose={() => setLeaving(null)} />}
    </div>
  );
}

/** Tells how a login ended, once, and returns the one whose accounts are to be chosen. */
function useLoginResult() {
  const { status, pending_id } = useSearch({ from: '/app/accounts' });
  const navigate = useNavigate();
  const scope = useScope();
  const clear = () => void navigate({ to: '/app/accounts', search: {}, replace: true });
  useEffect(() => {
    if (status === undefined || status === 'pending') return;
    if (status === 'connected') toast({ title: t('connected') });
    if (status === 'denied') toast({ kind: 'plain', title: t('denied'), detail: t('deniedText') });
    if (status === 'failed') toast({ kind: 'bad', title: t('failed'), detail: t('failedText') });
    invalidate(scope, '/api/v1/social/accounts', '/api/v1/ads/accounts');
    clear();
  }, [status]);
  return { pending: pending_id ?? null, endChoice: clear };
}
