import { Link, useSearch } from '@tanstack/react-router';
import { useMemo, type ReactNode } from 'react';
import { Failure } from '@/app/failure';
import { formatPercent } from '@/lib/intl';
import { useRead } from '@/lib/read';
import { Chart, Figure } from '@/ui/chart';
import { Skeleton } from '@/ui/feedback';
import { Icon } from '@/ui/icon';
import { PageHead } from '@/ui/page';
import { GoLink } from '../record/golink';
import { change, span, total, type Overview } from './figures';
import { t } from './messages';
import { useNeeds } from './needs';
import { Onboarding } from './onboarding';
import { OpenDeals } from './opendeals';
import { ranges } from './routes';
import styles from './home.module.css';

/** Home shows what needs the user, how the org does, and what is still to be set up. */
export function Home() {
  const { days = 30 } = useSearch({ from: '/app/home' });
  const { now, before } = useMemo(() => {
    const at = new Date();
    return { now: span(days, at), before: span(days, at, true) };
  }, [days]);
  const overview = useRead('/api/v1/overview', { query: now });
  const earlier = useRead('/api/v1/overview', { query: before });
  return (
    <>
      <PageHead title={t('title')}>
        <nav className={styles.ranges} aria-label={t('range')}>
          {ranges.map((one) => (
            <Link
              key={one}
              to="/app/home"
              activeOptions={{ exact: true }}
              search={one === 30 ? {} : { days: one }}
              aria-current={one === days ? 'true' : undefined}
            >
              {t('days', { count: one })}
            </Link>
          ))}
        </nav>
      </PageHead>
      <div className={styles.scroll}>
        <div className={styles.page}>
          {overview.data !== undefined && <Onboarding steps={overview.data.onboarding} />}
          <Needs />
          {overview.error !== null && overview.data === undefined ? (
            <Failure error={overview.error} again={overview.again} />
          ) : (
            <Figures days={days} overview={overview.data} earlier={earlier.data} />
          )}
          {overview.data !== undefined && <OpenDeals days={days} deals={overview.data.deals} />}
        </div>
      </div>
    </>
  );
}

function Needs() {
  const needs = useNeeds();
  return (
    <section aria-label={t('needs')}>
      <h2 className={styles.heading}>{t('needs')}</h2>
      {needs === undefined ? (
        <div className={styles.needSkeleton}>
          <Skeleton width="40%" />
        </div>
      ) : needs.length === 0 ? (
        <div className={styles.calm}>
          <Icon name="check" />
          <div>
            <strong>{t('calm')}</strong>
            <p>{t('calmHelp')}</p>
          </div>
        </div>
      ) : (
        <ul className={styles.needs}>
          {needs.map((need) => (
            <li key={need.key}>
              <GoLink href={need.href} className={styles.need}>
                <span className={styles.needIcon} data-tone={need.tone}>
                  <Icon name={need.icon} />
                </span>
                <span className={styles.needText}>
                  <span className={styles.needTitle}>{need.title}</span>
                  {need.detail !== undefined && <span className={styles.needDetail}>{need.detail}</span>}
                </span>
                <Icon name="right" size={14} />
              </GoLink>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

interface FigureLine {
  name: string;
  chart: string;
  value: number;
  before: number | undefined;
  note: ReactNode;
  of: (day: Overview['series'][number]) => number;
}

function Figures({ days, overview, earlier }: {
  days: number;
  overview: Overview | undefined;
  earlier: Overview | undefined;
}) {
  const lines = useMemo(() => (overview === undefined ? [] : linesOf(overview, earlier)), [overview, earlier]);
  return (
    <section aria-label={t('figures')}>
      <h2 className="visually-hidden">{t('figures')}</h2>
      <div className={styles.figures}>
        {overview === undefined
          ? [0, 1, 2, 3].map((i) => (
              <div key={i} className={styles.figure} aria-busy="true">
                <Skeleton width="50%" />
                <div className={styles.plotRoom} />
              </div>
            ))
          : lines.map((line) => <OneFigure key={line.name} line={line} days={days} series={overview.series} />)}
      </div>
    </section>
  );
}

function OneFigure({ line, days, series }: { line: FigureLine; days: number; series: Overview['series'] }) {
  const points = useMemo(() => series.map((day) => ({ day: day.day, value: line.of(day) })), [series, line]);
  const changed = line.before === undefined ? null : change(line.value, line.before);
  return (
    <div className={styles.figure}>
      <Figure
        name={line.name}
        value={line.value.toLocaleString('en')}
        {...(changed !== null && {
          change: (
            <>
              {changed}
              <span className="visually-hidden"> {t('before', { count: days })}</span>
            </>
          ),
        })}
      >
        <p className={styles.figureNote}>{line.note}</p>
        <Chart label={line.chart} points={points} height={56} />
      </Figure>
    </div>
  );
}

function linesOf(overview: Overview, earlier: Overview | undefined): FigureLine[] {
  const { contacts, deals, webhooks, emails } = overview;
  const ended = webhooks.delivered + webhooks.failed;
  return [
    {
      name: t('newContacts'),
      chart: t('newContactsPerDay'),
      value: contacts.new,
      before: earlier?.contacts.new,
      note: t('inTotal', { count: contacts.total }),
      of: (day) => day.contacts,
    },
    {
      name: t('won'),
      chart: t('wonPerDay'),
      value: total(deals.won),
      before: earlier === undefined ? undefined : total(earlier.deals.won),
      note: t('openDeals', { count: total(deals.open) }),
      of: (day) => day.deals_won,
    },
    {
      name: t('deliveries'),
      chart: t('deliveriesPerDay'),
      value: ended,
      before: earlier === undefined ? undefined : earlier.webhooks.delivered + earlier.webhooks.failed,
      note: ended === 0 ? t('noDeliveries') : t('delivered', { share: formatPercent(webhooks.delivered / ended, 1) }),
      of: (day) => day.deliveries + day.delivery_failures,
    },
    {
      name: t('emails'),
      chart: t('emailsPerDay'),
      value: emails.sent,
      before: earlier?.emails.sent,
      note: t('replies', { count: emails.replied }),
      of: (day) => day.emails_sent,
    },
  ];
}
