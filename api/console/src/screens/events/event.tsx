import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { Failure } from '@/app/failure';
import { isProblem } from '@/lib/problem';
import { useApi } from '@/lib/services';
import { JsonView } from '@/ui/code';
import { Id } from '@/ui/copy';
import { Callout, Skeleton } from '@/ui/feedback';
import { Facts } from '@/ui/page';
import { SidePanel } from '@/ui/sidepanel';
import { Time } from '@/ui/time';
import { t } from './messages';
import { changesOf } from './words';
import styles from './events.module.css';

/** EventPanel shows one event beside the list: what changed, and the bytes that webhooks send. */
export function EventPanel() {
  const { id } = useParams({ from: '/app/settings/integrations/events/$id' });
  const search = useSearch({ from: '/app/settings/integrations/events' });
  const navigate = useNavigate();
  const api = useApi();
  const { data, error, refetch } = useQuery({
    queryKey: ['/api/v1/events/{id}', { path: { id } }, 'text'],
    queryFn: ({ signal }) => api.get('/api/v1/events/{id}', { path: { id }, keepText: true, signal }),
    staleTime: Infinity, // an event never changes
  });
  const event = data?.data;
  const changes = event === undefined ? [] : changesOf(event.data);
  return (
    <SidePanel
      title={event?.type ?? t('title')}
      onClose={() => void navigate({ to: '/app/settings/integrations/events', search })}
    >
      {isProblem(error) && error.status === 404 ? (
        <Callout>{t('gone')}</Callout>
      ) : error !== null && event === undefined ? (
        <Failure error={error} again={() => void refetch()} />
      ) : event === undefined ? (
        <Skeleton width="60%" />
      ) : (
        <div className={styles.panel}>
          <Facts
            facts={[
              [t('created'), <Time key="created" at={event.created_at} />],
              [t('id'), <Id key="id" id={event.id} />],
              [t('seq'), <span key="seq" className="num">{event.seq}</span>],
              ...(event.request_id === null
                ? []
                : [[t('request'), <Id key="request" id={event.request_id} />] as const]),
            ]}
          />
          {changes.length > 0 && (
            <section>
              <h2 className={styles.heading}>{t('changed')}</h2>
              <table className={styles.changes}>
                <thead>
                  <tr>
                    <th scope="col" />
                    <th scope="col">{t('before')}</th>
                    <th scope="col">{t('after')}</th>
                  </tr>
                </thead>
                <tbody>
                  {changes.map(({ field, before, after }) => (
                    <tr key={field}>
                      <th scope="row">{field}</th>
                      <td>{before}</td>
                      <td>{after}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          )}
          <JsonView title={t('payload')} text={data?.text ?? ''} />
          <Link to="/app/settings/integrations/deliveries" search={{ type: event.type }}>
            {t('deliveries')}
          </Link>
        </div>
      )}
    </SidePanel>
  );
}
