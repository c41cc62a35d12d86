import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { describe } from '@/lib/describe';
import { formatNumber } from '@/lib/intl';
import type { Result } from '@/lib/operations';
import { readOptions } from '@/lib/read';
import { useApi } from '@/lib/services';
import { Button } from '@/ui/button';
import { Skeleton } from '@/ui/feedback';
import { Card } from '@/ui/page';
import styles from '../mail/mail.module.css';
import { useStanding } from '../segments/usestanding';
import { t } from './messages';
import { reasonWord, sumOf, type Broadcast } from './words';
import own from './broadcasts.module.css';

export type Audience = Result<'post', '/api/v1/broadcasts/{id}/preview'>;

/** useAudience counts whom a broadcast would reach, each time what selects them is stored anew. */
export function useAudience(one: Broadcast) {
  const api = useApi();
  const [state, setState] = useState<{ audience: Audience | null; error: unknown }>({ audience: null, error: null });
  const [turn, setTurn] = useState(0);
  const chosen = JSON.stringify([one.segment, one.filter]);
  const { id } = one;
  useEffect(() => {
    const stop = new AbortController();
    setState({ audience: null, error: null });
    api
      .post('/api/v1/broadcasts/{id}/preview', { path: { id }, repeatable: true, signal: stop.signal })
      .then(({ data }) => setState({ audience: data, error: null }))
      .catch((error: unknown) => stop.signal.aborted || setState({ audience: null, error }));
    return () => stop.abort();
  }, [api, id, chosen, turn]); // chosen: what selects the audience
  return { ...state, again: () => setTurn((old) => old + 1) };
}

/** AudienceCard shows who would get a broadcast, and who would not and why. */
export function AudienceCard({ one }: { one: Broadcast }) {
  const { audience, error, again } = useAudience(one);
  return (
    <Card
      title={t('audience')}
      actions={
        <Button size="small" kind="quiet" icon="refresh" onClick={again}>
          {t('count')}
        </Button>
      }
    >
      {error !== null ? (
        <p className={styles.help}>{describe(error)?.errors?.[0]?.detail ?? describe(error)?.detail}</p>
      ) : audience === null ? (
        <Skeleton width="50%" />
      ) : (
        <div className={styles.stack}>
          <p>
            <strong>{t('wouldGet', { count: audience.sendable })}</strong>{' '}
            <span className="meta">{t('ofTotal', { count: audience.total })}</span>
          </p>
          <LeftOut leftOut={audience.left_out} />
        </div>
      )}
    </Card>
  );
}

/** MatchCount counts the contacts that a filter selects while it is edited; undefined: it is not complete. */
export function MatchCount({ filter }: { filter: string | undefined }) {
  const standing = useStanding(filter);
  const found = useQuery({
    ...readOptions(useApi(), '/api/v1/crm/contacts', {
      query: { limit: 1, count: 'exact', ...(standing !== undefined && { filter: standing }) },
    }),
    enabled: standing !== undefined,
    placeholderData: keepPreviousData,
  });
  const total = filter === undefined ? undefined : found.data?.data.total;
  return (
    <p className={styles.help} aria-live="polite">
      {total !== undefined && <strong>{t('matches', { count: total })}</strong>} {t('matchesHelp')}
    </p>
  );
}

/** LeftOut lists by reason how many contacts get no mail. */
export function LeftOut({ leftOut }: { leftOut: Readonly<Record<string, number>> }) {
  const sum = sumOf(leftOut);
  if (sum === 0) return null;
  return (
    <div className={styles.tight}>
      <p className={styles.label}>{t('leftOut', { count: sum })}</p>
      <dl className={own.reasons}>
        {Object.entries(leftOut)
          .filter(([, count]) => count > 0)
          .map(([reason, count]) => (
            <div key={reason}>
              <dt>{reasonWord(reason)}</dt>
              <dd>{formatNumber(count)}</dd>
            </div>
          ))}
      </dl>
    </div>
  );
}
