import { useState } from 'react';
import { describe } from '@/lib/describe';
import { invalidate, useRead } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { Dialog } from '@/ui/dialog';
import { Callout } from '@/ui/feedback';
import { toast } from '@/ui/toast';
import { type Member, nameOf } from './members';
import { t } from './messages';
import styles from './members.module.css';

/** RemoveDialog names what removing a member ends, the API keys that they made among it. */
export function RemoveDialog({ member, own, onClose }: { member: Member; own: boolean; onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const [keep, setKeep] = useState(false);
  const keys = useRead('/api/v1/api-keys', { query: { limit: 200 } });
  const count = keys.data?.data.filter((key) => key.created_by === member.id).length;
  const name = nameOf(member);
  const org = scope.org.name;
  const remove = useSubmit(
    (keep_keys: boolean) => api.delete('/api/v1/members/{id}', { path: { id: member.id }, query: { keep_keys } }),
    () => {
      invalidate(scope, '/api/v1/members', '/api/v1/api-keys', '/billing/my-entitlements', '/api/v1/auth/me');
      toast({ title: t('removed', { name }) });
      onClose();
    },
  );
  const failure = describe(remove.error);
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('removeTitle', { name })}
      intro={own ? t('removeSelf', { org }) : t('removeText', { name, org })}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="danger" busy={remove.busy} onClick={() => void remove.submit(keep)}>
            {t('removeAction')}
          </Button>
        </>
      }
    >
      <div className={styles.result}>
        {count === 0 && <p className={styles.email}>{t('noKeys', { name })}</p>}
        {count !== undefined && count > 0 && !keep && <Callout tone="warn">{t('keys', { count, name })}</Callout>}
        {count !== 0 && (
          <Checkbox label={t('keepKeys')} help={t('keepKeysHelp')} checked={keep} onChange={setKeep} />
        )}
        {failure && (
          <Callout tone="bad" title={failure.title}>
            {failure.detail}
          </Callout>
        )}
      </div>
    </Dialog>
  );
}
