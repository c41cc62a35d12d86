import { useState } from 'react';
import { Failure } from '@/app/failure';
import { useList } from '@/lib/read';
import { Button } from '@/ui/button';
import { EmptyState, Skeleton } from '@/ui/feedback';
import { Timeline } from '@/ui/timeline';
import { useMembers } from './directory';
import { entryOf, kinds, type Kind } from './entries';
import { messages } from '@/lib/messages';
import { rowsOf, Rest } from './rest';
import styles from './record.module.css';

const t = messages({
  filter: 'Show',
  all: 'Everything',
  changes: 'Changes',
  score: 'Score',
  deals: 'Deals',
  notes: 'Notes',
  tasks: 'Tasks',
  nothing: 'Nothing happened yet',
  nothingHelp: 'Changes, notes, deals and tasks appear here, newest first.',
  nothingOfKind: 'Nothing of this kind',
});

/** Story is the timeline of a contact, by day, newest first. */
export function Story({ id }: { id: string }) {
  const [kind, setKind] = useState<Kind>('all');
  const types = kinds[kind].join(',');
  const list = useList('/api/v1/crm/contacts/{id}/timeline', {
    path: { id },
    query: { ...(types !== '' && { types }) },
  });
  const { nameWithin } = useMembers();
  const rows = rowsOf(list);
  return (
    <div>
      <div className={styles.pills} role="group" aria-label={t('filter')}>
        {(Object.keys(kinds) as Kind[]).map((one) => (
          <Button
            key={one}
            size="small"
            kind={one === kind ? 'plain' : 'quiet'}
            aria-pressed={one === kind}
            onClick={() => setKind(one)}
          >
            {t(one)}
          </Button>
        ))}
      </div>
      {list.error !== null && rows.length === 0 ? (
        <Failure error={list.error} again={() => list.pages.retry()} />
      ) : list.pending ? (
        <Skeleton width="60%" />
      ) : rows.length === 0 ? (
        <EmptyState icon="clock" title={kind === 'all' ? t('nothing') : t('nothingOfKind')}>
          {t('nothingHelp')}
        </EmptyState>
      ) : (
        <Timeline entries={rows.map((entry) => entryOf(entry, nameWithin))} />
      )}
      <Rest list={list} />
    </div>
  );
}
