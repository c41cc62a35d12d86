import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { formatPercent } from '@/lib/intl';
import { readOptions, useRead } from '@/lib/read';
import { useApi } from '@/lib/services';
import { Avatar } from '@/ui/avatar';
import { Callout, Skeleton } from '@/ui/feedback';
import { ScoreRing } from '@/ui/score';
import { GoLink } from '../record/golink';
import { nameOf } from '../record/types';
import { t } from './messages';
import { useStanding } from './usestanding';
import styles from './segments.module.css';

const shown = 8;

/** Preview counts the contacts of a segment, or those that a filter selects, and shows the first of them. */
export function Preview({ title, segment, filter }: {
  title: string;
  /** The key of the segment. */
  segment?: string | undefined;
  /** The filter as JSON; without it and segment there is nothing to count. */
  filter?: string | undefined;
}) {
  const standing = useStanding(filter);
  const api = useApi();
  const found = useQuery({
    ...readOptions(api, '/api/v1/crm/contacts', {
      query: {
        ...(standing !== undefined && { filter: standing }),
        ...(segment !== undefined && { segment }),
        limit: shown,
        sort: '-lead_score',
        count: 'exact',
      },
    }),
    enabled: segment !== undefined || standing !== undefined,
    placeholderData: keepPreviousData,
  });
  const whole = useRead('/api/v1/crm/contacts', { query: { limit: 1, count: 'estimate' } });
  return (
    <section className={styles.preview} aria-label={title}>
      <h2 className={styles.previewTitle}>{title}</h2>
      {segment === undefined && filter === undefined ? (
        <p className={styles.soft}>{t('incomplete')}</p>
      ) : found.error !== null && segment === undefined ? (
        <Callout tone="bad">{describe(found.error)?.detail}</Callout>
      ) : found.error !== null ? (
        <Failure error={found.error} again={() => void found.refetch()} />
      ) : found.data === undefined ? (
        <Skeleton width="50%" />
      ) : (
        <Found
          answer={found.data.data}
          all={whole.data?.total}
          isOld={found.isPlaceholderData || standing !== filter}
        />
      )}
    </section>
  );
}

interface Contacts {
  data: readonly { id: string; first_name: string; last_name: string; email: string; lead_score: number }[];
  total?: number;
}

function Found({ answer, all, isOld }: { answer: Contacts; all: number | undefined; isOld: boolean }) {
  const total = answer.total ?? answer.data.length;
  return (
    <div className={styles.found} data-old={isOld || undefined} aria-busy={isOld || undefined}>
      <p className={styles.count} aria-live="polite">
        <strong>{t('contactCount', { count: total })}</strong>
        {all !== undefined && all > 0 && all <= 1000 && (
          <span className="meta num">{t('ofAll', { share: formatPercent(total / all) })}</span>
        )}
      </p>
      {total === 0 ? (
        <p className={styles.soft}>{t('nobodyText')}</p>
      ) : (
        <>
          <p className="meta">{t('firstMembers')}</p>
          <ul className={styles.people}>
            {answer.data.map((contact) => (
              <li key={contact.id}>
                <Avatar name={nameOf(contact)} />
                <span className={styles.person}>
                  <GoLink href={`/app/contacts/${contact.id}`}>{nameOf(contact)}</GoLink>
                  <span className={styles.email}>{contact.email}</span>
                </span>
                <ScoreRing score={contact.lead_score} />
              </li>
            ))}
          </ul>
          {total > answer.data.length && <p className="meta num">{t('more', { count: total - answer.data.length })}</p>}
        </>
      )}
    </div>
  );
}
