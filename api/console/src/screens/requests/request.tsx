import { JsonView } from '@/ui/code';
import { Button } from '@/ui/button';
import { Copy } from '@/ui/copy';
import { Facts } from '@/ui/page';
import { SidePanel } from '@/ui/sidepanel';
import { Status } from '@/ui/status';
import { Time, exact } from '@/ui/time';
import { duration, type LoggedRequest, routeOf, toneOf, type useCallers } from './callers';
import { t } from './messages';
import type { RequestSearch } from './routes';
import styles from './requests.module.css';

/** RequestPanel shows all that is kept of one request. */
export function RequestPanel({ request, callers, onClose, onPrevious, onNext, onFilter }: {
  request: LoggedRequest;
  callers: ReturnType<typeof useCallers>;
  onClose: () => void;
  onPrevious: (() => void) | undefined;
  onNext: (() => void) | undefined;
  onFilter: (search: RequestSearch) => void;
}) {
  const { code, key_id, route, status } = request;
  const errors = request.errors ?? [];
  return (
    <SidePanel
      title={`${request.method} ${routeOf(request)}`}
      onClose={onClose}
      onPrevious={onPrevious}
      onNext={onNext}
    >
      <div className={styles.panel}>
        <Facts
          facts={[
            [t('status'), <Status key="status" tone={toneOf(status)}>{String(status)}</Status>],
            ...(code === null
              ? []
              : [[t('code'), <a key="code" href={`/docs/errors/${code}`} target="_blank" rel="noreferrer">{code}</a>] as const]),
            [
              t('time'),
              <span key="time">
                {exact(new Date(request.created_at))} (<Time at={request.created_at} />)
              </span>,
            ],
            [t('took'), <span key="took" className="num">{duration(request.took_ms)}</span>],
            [t('caller'), callers.nameOf(request)],
            [
              t('requestId'),
              <span key="id" className={styles.fact}>
                <code className={styles.id}>{request.request_id}</code> <Copy text={request.request_id} />
              </span>,
            ],
          ]}
        />
        <div className={styles.buttons}>
          {route !== null && (
            <Button size="small" icon="filter" onClick={() => onFilter({ route })}>
              {t('onlyRoute')}
            </Button>
          )}
          {key_id !== null && (
            <Button size="small" icon="filter" onClick={() => onFilter({ key: key_id })}>
              {t('onlyKey')}
            </Button>
          )}
        </div>
        {errors.length > 0 && (
          <section>
            <h2 className={styles.heading}>{t('errors')}</h2>
            <table className={styles.errors}>
              <thead>
                <tr>
                  <th scope="col">{t('where')}</th>
                  <th scope="col">{t('what')}</th>
                </tr>
              </thead>
              <tbody>
                {errors.map((one, n) => (
                  <tr key={n}>
                    <td className="mono">{one.pointer ?? one.parameter ?? ''}</td>
                    <td className="mono">{one.code}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </section>
        )}
        {status >= 400 &&
          (request.body === null || request.body === undefined ? (
            <p className="meta">{t('noBody')}</p>
          ) : (
            <section className={styles.kept}>
              <JsonView title={t('body')} text={JSON.stringify(request.body, null, 2)} />
              <p className="meta">{t('bodyHelp')}</p>
            </section>
          ))}
      </div>
    </SidePanel>
  );
}
