import { useEffect, useRef, useState } from 'react';
import { tellFailure } from '@/app/tell';
import { randomId } from '@/lib/random';
import { invalidate, useRead } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button } from '@/ui/button';
import { Field } from '@/ui/field';
import { Select } from '@/ui/select';
import styles from '../mail/mail.module.css';
import { t } from './messages';

const platforms = { google: 'gmail', microsoft: 'outlook' } as const;

type Chosen = (id: string, address?: string) => void;

/** AccountField chooses the connected account that a mailbox signs in with, or connects one at the provider. */
export function AccountField({ kind, pending, value, onChange }: {
  kind: 'google' | 'microsoft';
  /** The login that the provider has just ended, whose account is to be connected. */
  pending: string | undefined;
  value: string | null;
  /** Called with the account and, where its name is one, its address. */
  onChange: Chosen;
}) {
  const api = useApi();
  const platform = platforms[kind];
  const accounts = useRead('/api/v1/social/accounts', { query: { platform, limit: 200 } });
  const [leaving, setLeaving] = useState(false);
  const finishing = usePendingLogin(pending, onChange);
  const all = accounts.data?.data ?? [];
  const connect = async () => {
    setLeaving(true);
    try {
      const { data } = await api.post('/api/v1/social/{platform}/connect', {
        path: { platform },
        body: { redirect_url: `${location.origin}/app/settings/mailboxes/new?kind=${kind}` },
        idempotencyKey: randomId(),
      });
      location.assign(data.authorize_url);
    } catch (error) {
      tellFailure(error);
      setLeaving(false);
    }
  };
  return (
    <Field
      label={t('account')}
      pointer="/social_account_id"
      {...(accounts.data !== undefined && all.length === 0 && { help: t('noAccount') })}
    >
      <div className={styles.buttons}>
        {all.length > 0 && (
          <Select
            label={t('account')}
            placeholder={t('chooseAccount')}
            options={all.map((one) => ({ value: one.id, label: one.display_name }))}
            value={value}
            onChange={(id) => onChange(id, addressOf(all.find((one) => one.id === id)?.display_name))}
          />
        )}
        <Button icon="external" busy={leaving || finishing} onClick={() => void connect()}>
          {kind === 'google' ? t('connectGoogle') : t('connectMicrosoft')}
        </Button>
      </div>
    </Field>
  );
}

/** usePendingLogin connects the accounts of a login and reports whether it does. The login of a mailbox has one. */
function usePendingLogin(id: string | undefined, onConnected: Chosen): boolean {
  const api = useApi();
  const scope = useScope();
  const begun = useRef(false);
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    if (id === undefined || begun.current) return;
    begun.current = true;
    setBusy(true);
    const path = { id };
    const finish = async () => {
      const { data: offered } = await api.get('/api/v1/social/pending/{id}', { path });
      const { data } = await api.post('/api/v1/social/pending/{id}/select', {
        path,
        body: { account_ids: offered.accounts.map((one) => one.external_account_id) },
        idempotencyKey: randomId(),
      });
      const [first] = data.data;
      invalidate(scope, '/api/v1/social/accounts');
      if (first !== undefined) onConnected(first.id, addressOf(first.display_name));
    };
    finish()
      .catch(tellFailure)
      .finally(() => setBusy(false));
  }, [api, scope, id, onConnected]);
  return busy;
}

function addressOf(name: string | undefined): string | undefined {
  return name?.includes('@') ? name : undefined;
}
