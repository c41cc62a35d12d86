import { messages } from '@/lib/messages';
import { useRead } from '@/lib/read';
import { useMay } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { Button } from '@/ui/button';
import { Icon } from '@/ui/icon';
import { Time } from '@/ui/time';
import { useAct } from '../mail/act';
import styles from './scheduled.module.css';

const t = messages({
  title: 'Mails to be sent',
  none: 'No subject',
  cancel: 'Cancel {subject}',
  cancelWord: 'Cancel',
  cancelled: 'Mail cancelled',
});

/** ScheduledMails lists the mails that wait to be sent to a contact, and cancels them. It is absent without one. */
export function ScheduledMails({ contact }: { contact: string }) {
  const api = useApi();
  const mayEdit = useMay('member');
  const read = useRead('/api/v1/crm/emails', { query: { contact_id: contact, status: 'scheduled', limit: 20 } });
  const { busy, run } = useAct('/api/v1/crm/emails');
  const mails = read.data?.data ?? [];
  if (mails.length === 0) return null;
  const cancel = (id: string) =>
    void run(
      id,
      (idempotencyKey) => api.post('/api/v1/crm/emails/{id}/cancel', { path: { id }, idempotencyKey }),
      { title: t('cancelled') },
    );
  return (
    <ul className={styles.mails} aria-label={t('title')}>
      {mails.map(({ id, subject, scheduled_at: at }) => (
        <li key={id}>
          <Icon name="clock" size={14} />
          <span className={styles.subject}>{subject || t('none')}</span>
          <span className="meta">{at !== null && <Time at={at} />}</span>
          {mayEdit && (
            <Button
              size="small"
              kind="quiet"
              busy={busy === id}
              aria-label={t('cancel', { subject })}
              onClick={() => cancel(id)}
            >
              {t('cancelWord')}
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
