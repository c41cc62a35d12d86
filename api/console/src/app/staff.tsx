import { useState } from 'react';
import { describe } from '@/lib/describe';
import { messages } from '@/lib/messages';
import { useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import { cx } from '@/ui/cx';
import { toast } from '@/ui/toast';
import styles from './bars.module.css';
import { useSecondsUntil } from './offline';

const t = messages({
  acting: 'Acting in {org} as {role}.',
  minutes: { one: '{count} minute left.', other: '{count} minutes left.' },
  ended: 'Your access to {org} has ended.',
  leave: 'Leave',
  again: 'Enter again',
  failed: 'Could not enter {org}',
});

/** StaffBar tells that what is done here is done in a client org. The token is never renewed by itself. */
export function StaffBar() {
  const { session, actions } = useServices();
  const { staff } = useStore(session.state);
  const left = useSecondsUntil(staff?.expiresAt ?? null);
  const [busy, setBusy] = useState(false);
  if (staff === null) return null;
  const ended = left === 0;
  const again = async () => {
    setBusy(true);
    try {
      await actions.enterClient(staff.client);
    } catch (error) {
      toast({ kind: 'bad', title: t('failed', { org: staff.org.name }), detail: describe(error)?.detail ?? '' });
    }
    setBusy(false);
  };
  return (
    <div className={cx(styles.staff, ended && styles.ended)} role="status">
      {ended ? t('ended', { org: staff.org.name }) : t('acting', { org: staff.org.name, role: staff.role })}{' '}
      {!ended && <span className="num">{t('minutes', { count: Math.ceil((left ?? 0) / 60) })}</span>}
      {ended && (
        <button disabled={busy} onClick={() => void again()}>
          {t('again')}
        </button>
      )}
      <button onClick={() => session.leave()}>{t('leave')}</button>
    </div>
  );
}
