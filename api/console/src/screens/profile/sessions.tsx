import { useState } from 'react';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import type { Result } from '@/lib/operations';
import { invalidate, useRead } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button } from '@/ui/button';
import { Skeleton } from '@/ui/feedback';
import { Icon } from '@/ui/icon';
import { Card } from '@/ui/page';
import { Badge } from '@/ui/status';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { deviceName } from './device';
import { t } from './messages';
import styles from './profile.module.css';

type Session = Result<'get', '/api/v1/auth/sessions'>['data'][number];

/** SessionsCard lists where one is signed in, this session first, and ends sessions. */
export function SessionsCard() {
  const [limit, setLimit] = useState(10);
  const sessions = useRead('/api/v1/auth/sessions', { query: { limit } });
  const rows = [...(sessions.data?.data ?? [])].sort((a, b) => Number(b.current) - Number(a.current));
  const others = rows.filter((session) => !session.current);
  const { end, busy } = useEnd();
  return (
    <Card
      title={t('sessions')}
      actions={
        others.length > 1 && (
          <Button size="small" busy={busy.size > 0} onClick={() => void end(others)}>
            {t('endOthers')}
          </Button>
        )
      }
    >
      <p className={styles.note}>{t('sessionsText')}</p>
      {sessions.error !== null && sessions.data === undefined ? (
        <Failure error={sessions.error} again={sessions.again} />
      ) : sessions.data === undefined ? (
        <Skeleton width="60%" />
      ) : (
        <ul className={styles.sessions}>
          {rows.map((session) => (
            <Row key={session.id} session={session} busy={busy.has(session.id)} onEnd={() => void end([session])} />
          ))}
        </ul>
      )}
      {sessions.data?.has_more && (
        <Button kind="quiet" size="small" busy={sessions.fetching} onClick={() => setLimit(200)}>
          {t('more')}
        </Button>
      )}
    </Card>
  );
}

function Row({ session, busy, onEnd }: { session: Session; busy: boolean; onEnd: () => void }) {
  const device = deviceName(session.user_agent);
  const isPhone = /iPhone|Android/.test(session.user_agent ?? '');
  return (
    <li className={styles.session}>
      <span className={styles.symbol}>
        <Icon name={isPhone ? 'phone' : 'monitor'} />
      </span>
      <span className={styles.where}>
        <span className={styles.device}>
          {device} {session.current && <Badge tone="good">{t('current')}</Badge>}
        </span>
        <span className="meta">
          {session.ip !== null && <span className="num">{session.ip} · </span>}
          {t('inOrg', { org: session.org.name })} · {t('lastUsed')} <Time at={session.last_used_at} />
        </span>
      </span>
      {!session.current && (
        <Button size="small" busy={busy} onClick={onEnd}>
          {t('end')}
          <span className="visually-hidden"> {t('endOf', { device })}</span>
        </Button>
      )}
    </li>
  );
}

/** useEnd ends sessions, one request each, and says how many have ended. */
function useEnd() {
  const api = useApi();
  const scope = useScope();
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const end = async (sessions: readonly Session[]) => {
    setBusy(new Set(sessions.map(({ id }) => id)));
    const results = await Promise.allSettled(
      sessions.map(({ id }) => api.delete('/api/v1/auth/sessions/{id}', { credential: 'own', path: { id } })),
    );
    setBusy(new Set());
    invalidate(scope, '/api/v1/auth/sessions');
    const count = results.filter(({ status }) => status === 'fulfilled').length;
    if (count > 0) toast({ title: sessions.length === 1 ? t('ended') : t('endedOthers', { count }) });
    const failed = results.find((result) => result.status === 'rejected');
    if (failed === undefined) return;
    const failure = describe(failed.reason);
    toast({ kind: 'bad', title: t('notEnded'), detail: failure?.detail ?? '', requestId: failure?.request_id ?? '' });
  };
  return { end, busy };
}
