import { describe } from '@/lib/describe';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { ConfirmDialog } from '@/ui/dialog';
import { toast } from '@/ui/toast';
import { t } from './messages';
import { type Account, isAds, platformName } from './platforms';

/** Disconnect asks before an account's token is revoked and deleted. */
export function Disconnect({ account, onClose }: { account: Account; onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const name = account.display_name || account.external_account_id;
  const path = { id: account.id };
  const disconnect = useSubmit(
    async (_: null) => {
      if (isAds(account.platform)) await api.delete('/api/v1/ads/accounts/{id}', { path });
      else await api.delete('/api/v1/social/accounts/{id}', { path });
    },
    () => {
      invalidate(scope, '/api/v1/social/accounts', '/api/v1/ads/accounts', '/billing/my-entitlements');
      toast({ title: t('disconnected', { name }) });
      onClose();
    },
  );
  return (
    <ConfirmDialog
      open
      onClose={onClose}
      title={t('disconnectTitle', { name })}
      consequence={
        <>
          <p>{t('disconnectText', { platform: platformName(account.platform) })}</p>
          {disconnect.error !== null && <p role="alert">{describe(disconnect.error)?.detail}</p>}
        </>
      }
      action={t('disconnect')}
      busy={disconnect.busy}
      onConfirm={() => void disconnect.submit(null)}
    />
  );
}
