import { useState } from 'react';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import type { Result } from '@/lib/operations';
import { invalidate, useRead } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { Dialog } from '@/ui/dialog';
import { Skeleton } from '@/ui/feedback';
import { Form } from '@/ui/form';
import { Badge } from '@/ui/status';
import { toast } from '@/ui/toast';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { t } from './messages';
import { platformName } from './platforms';
import styles from './accounts.module.css';

type Login = Result<'get', '/api/v1/social/pending/{id}'>;

/** Choose connects some of the pages or accounts that a login reaches. */
export function Choose({ id, onClose }: { id: string; onClose: () => void }) {
  const login = useRead('/api/v1/social/pending/{id}', { path: { id } });
  const platform = login.data === undefined ? '…' : platformName(login.data.platform);
  return (
    <Dialog open keep onClose={onClose} title={t('chooseTitle', { platform })} intro={t('chooseIntro')}>
      {login.data !== undefined ? (
        <Choice login={login.data} onClose={onClose} />
      ) : login.error === null ? (
        <Skeleton width="60%" />
      ) : (
        <Failure error={login.error} again={login.again} />
      )}
    </Dialog>
  );
}

function Choice({ login, onClose }: { login: Login; onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const only = login.accounts.length === 1 ? login.accounts.map((one) => one.external_account_id) : [];
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(only));
  const select = useSubmit(
    (account_ids: string[], idempotencyKey) =>
      api.post('/api/v1/social/pending/{id}/select', { path: { id: login.id }, body: { account_ids }, idempotencyKey }),
    ({ data }) => {
      invalidate(scope, '/api/v1/social/accounts', '/api/v1/ads/accounts', '/billing/my-entitlements');
      toast({ title: t('chosen', { count: data.data.length }) });
      onClose();
    },
  );
  const set = (id: string, on: boolean) =>
    setChosen((old) => new Set(on ? [...old, id] : [...old].filter((one) => one !== id)));
  const isAll = chosen.size === login.accounts.length;
  if (login.accounts.length === 0) return <p>{t('none')}</p>;
  return (
    <Form
      problem={isPlanLimit(select.error) ? null : describe(select.error)}
      onSubmit={() => chosen.size > 0 && void select.submit([...chosen])}
    >
      <PlanLimit error={select.error} />
      {login.account_id !== null && <p>{t('reconnectOther')}</p>}
      <ul className={styles.choices}>
        {login.accounts.length > 2 && (
          <li>
            <Checkbox
              label={t('all')}
              checked={isAll}
              mixed={chosen.size > 0 && !isAll}
              onChange={(on) => setChosen(new Set(on ? login.accounts.map((one) => one.external_account_id) : []))}
            />
          </li>
        )}
        {login.accounts.map(({ external_account_id: id, display_name, connected }) => (
          <li key={id}>
            <Checkbox
              label={
                <>
                  {display_name || id} <span className="meta">{id}</span> {connected && <Badge tone="good">{t('already')}</Badge>}
                </>
              }
              checked={chosen.has(id)}
              onChange={(on) => set(id, on)}
            />
          </li>
        ))}
      </ul>
      <div>
        <Button kind="primary" type="submit" busy={select.busy} disabled={chosen.size === 0}>
          {chosen.size === 0 ? t('chooseNone') : t('choose', { count: chosen.size })}
        </Button>
      </div>
    </Form>
  );
}
