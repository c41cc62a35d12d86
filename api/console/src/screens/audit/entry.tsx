import { Button } from '@/ui/button';
import { Id } from '@/ui/copy';
import { JsonView } from '@/ui/code';
import { Facts } from '@/ui/page';
import { SidePanel } from '@/ui/sidepanel';
import { Time, exact } from '@/ui/time';
import { actionName, t, targetName } from './messages';
import type { Entry, usePeople } from './people';
import type { AuditSearch } from './routes';
import styles from './audit.module.css';

/** EntryPanel shows all that is recorded of one action. */
export function EntryPanel({
  entry,
  people,
  onClose,
  onPrevious,
  onNext,
  onFilter,
}: {
  entry: Entry;
  people: ReturnType<typeof usePeople>;
  onClose: () => void;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
  onFilter: (search: AuditSearch) => void;
}) {
  const { actor, target, detail, request_id } = entry;
  const actorId = actor.id;
  return (
    <SidePanel title={actionName(entry.action)} onClose={onClose} onPrevious={onPrevious} onNext={onNext}>
      <div className={styles.panel}>
        <Facts
          facts={[
            [
              t('when'),
              <span key="when">
                {exact(new Date(entry.created_at))} (<Time at={entry.created_at} />)
              </span>,
            ],
            [
              t('actor'),
              <span key="actor" className={styles.fact}>
                {people.nameOf(actor)} {actorId !== null && <Id id={actorId} />}
              </span>,
            ],
            [
              t('target'),
              <span key="target" className={styles.fact}>
                {people.find(target.id) ?? targetName(target.type)} <Id id={target.id} />
              </span>,
            ],
            [t('action'), <code key="action">{entry.action}</code>],
            ...(request_id === null ? [] : [[t('request'), <Id key="request" id={request_id} />] as const]),
          ]}
        />
        <div className={styles.buttons}>
          {actorId !== null && (
            <Button size="small" icon="filter" onClick={() => onFilter({ actor: actorId })}>
              {t('byActor')}
            </Button>
          )}
          <Button size="small" icon="filter" onClick={() => onFilter({ target: target.id })}>
            {t('byTarget')}
          </Button>
        </div>
        {Object.keys(detail).length === 0 ? (
          <p className="meta">{t('noDetail')}</p>
        ) : (
          <JsonView title={t('detail')} text={JSON.stringify(detail, null, 2)} />
        )}
      </div>
    </SidePanel>
  );
}
