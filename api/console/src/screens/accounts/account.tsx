import { Avatar } from '@/ui/avatar';
import { Button, IconButton } from '@/ui/button';
import { Menu } from '@/ui/menu';
import { Status, type Tone } from '@/ui/status';
import { Time } from '@/ui/time';
import { t } from './messages';
import { type Account, platformName } from './platforms';
import styles from './accounts.module.css';

const tones: Record<Account['status'], Tone> = {
  active: 'good',
  expiring: 'warn',
  reauth_required: 'bad',
  revoked: 'off',
};

/** AccountRow is one connected account with its state. */
export function AccountRow({ account, may, onReconnect, onDisconnect }: {
  account: Account;
  may: boolean;
  onReconnect: () => void;
  onDisconnect: () => void;
}) {
  const name = account.display_name || account.external_account_id;
  const needsLogin = account.status !== 'active';
  return (
    <li className={styles.account}>
      <Avatar name={name} square />
      <span className={styles.two}>
        <span className={styles.cut}>{name}</span>
        <span className={styles.second}>{account.external_account_id}</span>
        {account.missing_scopes.length > 0 && (
          <span className={styles.missing}>{t('missing', { scopes: account.missing_scopes.join(', ') })}</span>
        )}
      </span>
      <Status tone={tones[account.status]}>{t(account.status)}</Status>
      <span className={styles.when}>
        <Expiry account={account} />
      </span>
      {may && (
        <span className={styles.actions}>
          {needsLogin && (
            <Button
              size="small"
              kind={account.status === 'reauth_required' ? 'primary' : 'plain'}
              onClick={onReconnect}
              aria-label={`${t('reconnect')} ${platformName(account.platform)} ${name}`}
            >
              {t('reconnect')}
            </Button>
          )}
          <Menu
            align="end"
            trigger={<IconButton icon="more" label={t('actionsOf', { name })} />}
            items={[
              { label: t('reconnect'), icon: 'refresh', onSelect: onReconnect },
              null,
              { label: t('disconnect'), icon: 'trash', danger: true, onSelect: onDisconnect },
            ]}
          />
        </span>
      )}
    </li>
  );
}

/** When the login ends: it is renewed before, unless a person must sign in. */
function Expiry({ account }: { account: Account }) {
  const { token_expires_at: at, status } = account;
  if (at === null) {
    return (
      <>
        {t('connectedAt')} <Time at={account.connected_at} />
      </>
    );
  }
  const word = Date.parse(at) < Date.now() ? 'ended' : status === 'active' ? 'renewed' : 'endsAt';
  return (
    <>
      {t(word)} <Time at={at} />
    </>
  );
}
