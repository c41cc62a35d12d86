import { useState } from 'react';
import { Failure } from '@/app/failure';
import { formatDay } from '@/lib/intl';
import { useRead } from '@/lib/read';
import type { Result } from '@/lib/operations';
import { Button } from '@/ui/button';
import { Skeleton } from '@/ui/feedback';
import { Money } from '@/ui/money';
import { Card } from '@/ui/page';
import { Status, type Tone } from '@/ui/status';
import { t } from './messages';
import styles from './billing.module.css';

type Invoice = Result<'get', '/billing/invoices'>['data'][number];

const tones: Readonly<Record<Invoice['status'], Tone>> = {
  draft: 'off',
  open: 'warn',
  paid: 'good',
  uncollectible: 'bad',
  void: 'off',
};

/** Invoices lists the payment processor's invoices with their pages, newest first. */
export function Invoices() {
  const [limit, setLimit] = useState(12);
  const invoices = useRead('/billing/invoices', { query: { limit } });
  const rows = invoices.data?.data;
  return (
    <Card title={t('invoices')}>
      {invoices.error !== null && rows === undefined ? (
        <Failure error={invoices.error} again={invoices.again} />
      ) : rows === undefined ? (
        <Skeleton width="60%" />
      ) : rows.length === 0 ? (
        <p className={styles.quiet}>{t('invoicesEmpty')}</p>
      ) : (
        <>
          <ul className={styles.invoices}>
            {rows.map((invoice) => (
              <Row key={invoice.id} invoice={invoice} />
            ))}
          </ul>
          {invoices.data?.has_more && limit < 200 && (
            <Button
              kind="quiet"
              size="small"
              busy={invoices.fetching}
              onClick={() => setLimit(Math.min(200, limit * 3))}
            >
              {t('moreInvoices')}
            </Button>
          )}
        </>
      )}
    </Card>
  );
}

function Row({ invoice }: { invoice: Invoice }) {
  const number = invoice.number ?? t('draft');
  return (
    <li className={styles.invoice}>
      <span className={styles.invoiceDate}>{formatDay(invoice.created_at)}</span>
      <span className={styles.invoiceNumber}>{number}</span>
      <Status tone={tones[invoice.status]}>{t(invoice.status)}</Status>
      <span className={styles.invoiceAmount}>
        <Money amount={invoice.amount_due} currency={invoice.currency} />
      </span>
      <span className={styles.invoiceLinks}>
        {invoice.hosted_invoice_url && (
          <Leave href={invoice.hosted_invoice_url} number={number}>
            {invoice.status === 'open' ? t('pay') : t('view')}
          </Leave>
        )}
        {invoice.pdf_url && (
          <Leave href={invoice.pdf_url} number={number}>
            {t('pdf')}
          </Leave>
        )}
      </span>
    </li>
  );
}

/** Leave opens a page of the payment processor in another tab. */
function Leave({ href, number, children }: { href: string; number: string; children: string }) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
      <span className="visually-hidden"> {t('ofInvoice', { number })}</span>
    </a>
  );
}
