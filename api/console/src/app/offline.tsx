import { onlineManager } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { messages } from '@/lib/messages';
import { useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import styles from './bars.module.css';

const t = messages({
  offline: 'No connection. What you see may be old, and nothing you typed is lost.',
  next: { one: 'Next try in {count} second.', other: 'Next try in {count} seconds.' },
  trying: 'Connecting…',
  now: 'Try now',
});

/** OfflineBar is shown while the server cannot be reached. Reads wait until it is. */
export function OfflineBar() {
  const { connection } = useServices();
  const { online, nextTryAt } = useStore(connection.state);
  const left = useSecondsUntil(nextTryAt);
  useEffect(() => onlineManager.setOnline(online), [online]);
  useEffect(() => {
    window.addEventListener('online', connection.tryNow);
    return () => window.removeEventListener('online', connection.tryNow);
  }, [connection]);
  if (online) return null;
  return (
    <div className={styles.offline} role="status">
      {t('offline')} <span className="num">{left === null ? t('trying') : t('next', { count: left })}</span>
      {left !== null && <button onClick={connection.tryNow}>{t('now')}</button>}
    </div>
  );
}

/** useSecondsUntil counts down to at, in milliseconds since the epoch. It returns null for null and ends at 0. */
export function useSecondsUntil(at: number | null): number | null {
  const [, tick] = useState(0);
  useEffect(() => {
    if (at === null) return;
    const timer = setInterval(() => {
      tick((n) => n + 1);
      if (Date.now() >= at) clearInterval(timer);
    }, 250);
    return () => clearInterval(timer);
  }, [at]);
  return at === null ? null : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}
