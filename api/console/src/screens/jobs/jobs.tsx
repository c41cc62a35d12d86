import { useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Failure } from '@/app/failure';
import { describe } from '@/lib/describe';
import { randomId } from '@/lib/random';
import { invalidate, useList } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button, buttonLook } from '@/ui/button';
import { EmptyState, Progress, Skeleton } from '@/ui/feedback';
import { Icon, type IconName } from '@/ui/icon';
import { PageHead } from '@/ui/page';
import { Status, type Tone } from '@/ui/status';
import { Time } from '@/ui/time';
import { toast } from '@/ui/toast';
import { GoLink } from '../record/golink';
import { Rest, rowsOf } from '../record/rest';
import { t } from './messages';
import { isActive, pageOf, type Job } from './targets';
import styles from './jobs.module.css';

/** Milliseconds between two reads: while listed work is under way, and while none is, since some may begin elsewhere. */
const periods = { busy: 2000, calm: 10_000 };

const icons: Record<Job['kind'], IconName> = {
  import: 'imports',
  export: 'exports',
  bulk: 'edit',
  replay: 'refresh',
  enrollment: 'sequences',
  broadcast: 'broadcasts',
  merge: 'contacts',
  train: 'spark',
  suppression_import: 'imports',
  sequence_move: 'sequences',
};
const tones: Record<Job['status'], Tone> = {
  queued: 'off',
  running: 'busy',
  completed: 'good',
  failed: 'bad',
  cancelled: 'off',
};

/** Jobs lists the long work of the org with its progress, which the server keeps. */
export function Jobs() {
  const scope = useScope();
  const jobs = useList('/api/v1/jobs', { query: { limit: 50 } });
  const rows = rowsOf(jobs);
  const active = rows.filter(isActive);
  const ended = rows.filter((job) => !isActive(job));
  const isBusy = active.length > 0;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') invalidate(scope, '/api/v1/jobs');
    }, isBusy ? periods.busy : periods.calm);
    return () => clearInterval(timer);
  }, [isBusy, scope]);
  return (
    <>
      <PageHead title={t('title')} />
      <div className={styles.page}>
        <p className={styles.intro}>{t('intro')}</p>
        {jobs.error !== null && rows.length === 0 ? (
          <Failure error={jobs.error} again={() => jobs.pages.retry()} />
        ) : jobs.pending ? (
          <Skeleton width="60%" />
        ) : rows.length === 0 ? (
          <EmptyState icon="clock" title={t('empty')} guide={{ label: t('guide'), href: '/docs' }}>
            {t('emptyHelp')}
          </EmptyState>
        ) : (
          <>
            <Group title={t('running')} jobs={active} />
            <Group title={t('ended')} jobs={ended} />
            <Rest list={jobs} />
          </>
        )}
      </div>
    </>
  );
}

function Group({ title, jobs }: { title: string; jobs: readonly Job[] }) {
  if (jobs.length === 0) return null;
  return (
    <section aria-label={title}>
      <h2 className={styles.group}>{title}</h2>
      <ul className={styles.list}>
        {jobs.map((job) => (
          <OneJob key={job.id} job={job} />
        ))}
      </ul>
    </section>
  );
}

function OneJob({ job }: { job: Job }) {
  const name = t(job.kind);
  return (
    <li className={styles.job}>
      <span className={styles.symbol}>
        <Icon name={icons[job.kind]} />
      </span>
      <div className={styles.body}>
        <div className={styles.line}>
          <span className={styles.name}>{name}</span>
          <Status tone={tones[job.status]}>{t(job.status === 'running' ? 'runningState' : job.status)}</Status>
          <span className={styles.when}>
            <Time at={job.created_at} />
          </span>
        </div>
        {isActive(job) ? (
          <Progress
            label={name}
            value={job.done}
            tone="busy"
            {...(job.total !== null && { max: job.total })}
            detail={figures(job)}
          />
        ) : (
          <span className="meta num">{figures(job)}</span>
        )}
      </div>
      <JobActions job={job} name={name} />
    </li>
  );
}

function JobActions({ job, name }: { job: Job; name: string }) {
  const may = useMay('member');
  const router = useRouter();
  const page = pageOf(job);
  if (job.kind === 'export' && job.status === 'completed') return <Download id={job.id} />;
  if (job.kind === 'bulk' && isActive(job) && may) return <Stop id={job.id} />;
  if (page === null || !Object.keys(router.routesByPath).includes(page.route)) return null;
  return (
    <GoLink href={page.href} className={buttonLook({ size: 'small' })} aria-label={t('openOf', { name })}>
      {t('open')}
    </GoLink>
  );
}

/** Download asks for the file's link only when it is wanted, since the link is valid for a short time. */
function Download({ id }: { id: string }) {
  const api = useApi();
  const [busy, setBusy] = useState(false);
  const start = async () => {
    setBusy(true);
    try {
      const { data } = await api.get('/api/v1/crm/contacts/exports/{id}', { path: { id } });
      if (data.download_url === null) toast({ kind: 'plain', title: t('expired'), detail: t('expiredHelp') });
      else window.location.assign(data.download_url);
    } catch (error) {
      fail(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button size="small" icon="exports" busy={busy} onClick={() => void start()}>
      {t('download')}
    </Button>
  );
}

function Stop({ id }: { id: string }) {
  const api = useApi();
  const scope = useScope();
  const [busy, setBusy] = useState(false);
  const stop = async () => {
    setBusy(true);
    try {
      await api.post('/api/v1/crm/contacts/bulk/{id}/cancel', { path: { id }, idempotencyKey: randomId() });
      invalidate(scope, '/api/v1/jobs');
      toast({ title: t('stopped') });
    } catch (error) {
      fail(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button size="small" busy={busy} onClick={() => void stop()}>
      {t('stop')}
    </Button>
  );
}

function fail(error: unknown): void {
  const { detail, request_id } = describe(error) ?? { detail: '', request_id: undefined };
  toast({ kind: 'bad', title: t('failedAction'), detail, ...(request_id !== undefined && { requestId: request_id }) });
}

function figures({ done, total }: Job): string {
  return total === null ? t('soFar', { done }) : t('of', { done, total });
}
