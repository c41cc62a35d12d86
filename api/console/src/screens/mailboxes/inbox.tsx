import { useState } from 'react';
import { formatNumber } from '@/lib/intl';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { describe } from '@/lib/describe';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { Button } from '@/ui/button';
import { Secret } from '@/ui/copy';
import { ConfirmDialog } from '@/ui/dialog';
import { Callout } from '@/ui/feedback';
import { Card, Facts } from '@/ui/page';
import { Time } from '@/ui/time';
import styles from '../mail/mail.module.css';
import { t } from './messages';
import { reasonText, type Mailbox } from './words';

/** InboxCard shows how the mailbox is read, and replaces its inbound address, which is shown once. */
export function InboxCard({ one, isAdmin }: { one: Mailbox; isAdmin: boolean }) {
  const api = useApi();
  const scope = useScope();
  const [asking, setAsking] = useState(false);
  const [url, setUrl] = useState<string | null>(null);
  const rotate = useSubmit(
    (_: null, idempotencyKey) =>
      api.post('/api/v1/mailboxes/{id}/rotate-inbound-token', { path: { id: one.id }, idempotencyKey }),
    ({ data }) => {
      setUrl(data.inbound_url);
      setAsking(false);
      invalidate(scope, '/api/v1/mailboxes');
    },
  );
  const { sync } = one;
  return (
    <Card
      title={t('inbox')}
      {...(isAdmin && {
        actions: (
          <Button size="small" icon="refresh" onClick={() => setAsking(true)}>
            {t('rotate')}
          </Button>
        ),
      })}
    >
      <div className={styles.stack}>
        {url !== null && (
          <>
            <Callout tone="warn">{t('rotated')}</Callout>
            <Secret label={t('inbound')} value={url} />
          </>
        )}
        {sync === null ? (
          <p className={styles.help}>{t('notRead')}</p>
        ) : (
          <>
            {sync.error !== null && <Callout tone="warn">{reasonText(sync.error)}</Callout>}
            <Facts
              facts={[
                [t('readAt'), sync.last_at === null ? t('never') : <Time at={sync.last_at} />],
                [t('readNext'), one.next_sync_at === null ? '–' : <Time at={one.next_sync_at} />],
                [t('skipped'), formatNumber(sync.skipped)],
              ]}
            />
          </>
        )}
        <p className={styles.help}>{t('inboundText')}</p>
      </div>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t('rotateTitle')}
        consequence={
          <>
            <p>{t('rotateText')}</p>
            {rotate.error !== null && <p role="alert">{describe(rotate.error)?.detail}</p>}
          </>
        }
        action={t('rotate')}
        busy={rotate.busy}
        onConfirm={() => void rotate.submit(null)}
      />
    </Card>
  );
}
