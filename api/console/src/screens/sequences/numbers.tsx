import { useParams } from '@tanstack/react-router';
import { Failure } from '@/app/failure';
import { formatNumber, formatPercent } from '@/lib/intl';
import { useRead } from '@/lib/read';
import { EmptyState } from '@/ui/feedback';
import { Table, type Column } from '@/ui/table';
import mail from '../mail/mail.module.css';
import { RateBar } from '../mail/ratebar';
import { SequenceFrame, type Within } from './frame';
import { t } from './messages';
import { stepName, type Stats } from './words';

/** SequenceNumbers shows what became of the emails of each step and variant. */
export function SequenceNumbers() {
  const { id } = useParams({ from: '/app/sequences/$id/numbers' });
  return <SequenceFrame id={id}>{(within) => <Numbers {...within} />}</SequenceFrame>;
}

function Numbers({ sequence }: Within) {
  const read = useRead('/api/v1/sequences/{id}/stats', { path: { id: sequence.id } });
  const rows = read.data?.data ?? [];
  const numeric = (key: string, title: string, value: (one: Stats) => number, width = 76): Column<Stats> => ({
    key,
    title,
    width,
    end: true,
    wide: true,
    cell: (one) => formatNumber(value(one)),
  });
  const columns: readonly Column<Stats>[] = [
    {
      key: 'step',
      title: t('step'),
      cell: (one) => (
        <span className={mail.two}>
          <span className={mail.first}>{stepName(sequence.steps, one.step_key)}</span>
          {one.variant !== null && <span className={mail.second}>{variantText(one, one.variant)}</span>}
        </span>
      ),
    },
    numeric('sent', t('sent'), (one) => one.sent),
    { key: 'replies', title: t('replies'), width: 176, cell: (one) => <RateBar rate={one.reply_rate} count={one.replied} /> },
    {
      key: 'clicks',
      title: t('clicks'),
      width: 176,
      wide: true,
      cell: (one) => <RateBar rate={one.click_rate} count={one.clicked} />,
    },
    {
      key: 'bounces',
      title: t('bounces'),
      width: 176,
      wide: true,
      cell: (one) => <RateBar rate={one.bounce_rate} count={one.bounced} />,
    },
    numeric('unsubs', t('unsubs'), (one) => one.unsubscribed, 104),
    numeric('unknown', t('unknownSends'), (one) => one.unknown),
  ];
  if (read.error !== null && read.data === undefined) return <Failure error={read.error} again={read.again} />;
  if (read.data !== undefined && rows.every((one) => one.planned === 0)) {
    return (
      <EmptyState
        icon="events"
        title={t('noNumbers')}
        guide={{ label: t('guide'), href: '/docs/guides/sequences' }}
      >
        {t('noNumbersText')}
      </EmptyState>
    );
  }
  return (
    <>
      <p className={mail.note}>{t('numbersHelp')}</p>
      <div className={mail.part}>
        <Table
          label={t('numbers')}
          columns={columns}
          rows={rows}
          rowKey={(one) => `${one.step_key} ${one.variant ?? ''}`}
          loading={read.pending}
          twoLines
        />
      </div>
    </>
  );
}

function variantText(one: Stats, variant: string): string {
  const name = t('variant', { key: variant.toUpperCase() });
  if (one.p_best === null || one.p_best < 0.95) return `${name} · ${t('noDifference')}`;
  return `${name} · ${t('best', { share: formatPercent(one.p_best) })}`;
}
