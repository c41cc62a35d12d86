import type { ReactNode } from 'react';
import { messages } from '@/lib/messages';
import { Code, JsonView } from '@/ui/code';
import { Status } from '@/ui/status';
import type { Attempt } from './filter';
import { formatDuration, outcome, toneOf } from './words';
import styles from './delivery.module.css';

const t = messages({
  request: 'Request',
  response: 'Answer',
  headers: { one: '{count} header', other: '{count} headers' },
  body: 'Body',
  truncated: 'First 16 KiB of the body',
  empty: 'The answer has no body.',
  none: 'No answer arrived.',
  location: 'It redirects to {location}. Redirects are not followed.',
  timing: 'Timing',
  dns: 'Name lookup',
  connect: 'Connection',
  tls: 'TLS',
  wait: 'Waiting for the answer',
  read: 'Reading the answer',
});

/** RequestPart shows what was sent: address, headers folded, body. */
export function RequestPart({ attempt, url, children }: { attempt: Attempt; url: string; children: ReactNode }) {
  const headers = Object.entries(attempt.request_headers);
  return (
    <section className={styles.part}>
      <h2 className={styles.heading}>{t('request')}</h2>
      <p className={styles.target}>
        <b>POST</b> {url}
      </p>
      <details className={styles.headers}>
        <summary>{t('headers', { count: headers.length })}</summary>
        <dl>
          {headers.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
      {children}
    </section>
  );
}

/** ResponsePart shows what came back, as text, and how long it took. */
export function ResponsePart({ attempt }: { attempt: Attempt }) {
  const { status_code, error_class, response_body: body } = attempt;
  return (
    <section className={styles.part}>
      <h2 className={styles.heading}>{t('response')}</h2>
      <p className={styles.target}>
        <Status tone={toneOf(status_code, error_class)}>{outcome(status_code, error_class)}</Status>
        <span className="meta num">{formatDuration(attempt.timings.total_ms)}</span>
      </p>
      {attempt.error !== null && <p className={styles.why}>{attempt.error}</p>}
      {attempt.location !== null && <p className={styles.why}>{t('location', { location: attempt.location })}</p>}
      <Timing attempt={attempt} />
      {body === null ? (
        status_code === null && <p className="meta">{t('none')}</p>
      ) : body === '' ? (
        <p className="meta">{t('empty')}</p>
      ) : attempt.response_truncated ? (
        <Code title={t('truncated')} text={body} />
      ) : (
        <JsonView title={t('body')} text={body} />
      )}
    </section>
  );
}

/** Timing is the attempt's time by phase, each bar at its place. */
function Timing({ attempt }: { attempt: Attempt }) {
  const { dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms } = attempt.timings;
  const dialled = dns_ms + connect_ms + tls_ms;
  const waited = first_byte_ms > 0 ? Math.max(0, first_byte_ms - dialled) : 0;
  const phases = [
    { name: t('dns'), at: 0, took: dns_ms },
    { name: t('connect'), at: dns_ms, took: connect_ms },
    { name: t('tls'), at: dns_ms + connect_ms, took: tls_ms },
    { name: t('wait'), at: dialled, took: waited },
    { name: t('read'), at: first_byte_ms, took: first_byte_ms > 0 ? Math.max(0, total_ms - first_byte_ms) : 0 },
  ].filter(({ took }) => took > 0);
  if (phases.length === 0 || total_ms <= 0) return null;
  const percent = (part: number) => `${Math.min(100, (part / total_ms) * 100)}%`;
  return (
    <dl className={styles.timing} aria-label={t('timing')}>
      {phases.map(({ name, at, took }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <span className={styles.track} aria-hidden="true">
              <span className={styles.span} style={{ insetInlineStart: percent(at), width: percent(took) }} />
            </span>
            <span className="num">{formatDuration(took)}</span>
          </dd>
        </div>
      ))}
    </dl>
  );
}
