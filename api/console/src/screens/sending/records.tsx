import { Copy } from '@/ui/copy';
import { Badge, Status } from '@/ui/status';
import styles from '../mail/mail.module.css';
import { t } from './messages';
import type { DnsRecord } from './words';

/** Records shows DNS records to set, each with copy buttons and whether it was found. */
export function Records({ records }: { records: readonly DnsRecord[] }) {
  return (
    <ul className={styles.records}>
      {records.map((record) => (
        <li key={`${record.type}${record.name}${record.value}`} className={styles.record}>
          <Badge>{record.type}</Badge>
          <Status tone={record.found ? 'good' : 'warn'}>{record.found ? t('found') : t('notFound')}</Status>
          <span className="meta">{t('name')}</span>
          <span className={styles.code}>
            {record.name} <Copy text={record.name} label={t('copyName')} />
          </span>
          <span className="meta">{t('value')}</span>
          <span className={styles.code}>
            {record.value} <Copy text={record.value} label={t('copyValue')} />
          </span>
        </li>
      ))}
    </ul>
  );
}
