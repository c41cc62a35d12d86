import { Link } from '@tanstack/react-router';
import { Card, Facts } from '@/ui/page';
import { Status } from '@/ui/status';
import { Time } from '@/ui/time';
import styles from '../mail/mail.module.css';
import { t } from './messages';
import { findingTones, findingWord, type Finding, type Mailbox } from './words';

/** DomainCard shows which of the DNS records of the mailbox's domain were found. */
export function DomainCard({ one }: { one: Mailbox }) {
  const { domain } = one;
  const name = one.from_email.slice(one.from_email.indexOf('@') + 1);
  return (
    <Card title={`${t('domain')} ${name}`} actions={<Link to="/app/settings/sending">{t('domainSettings')}</Link>}>
      <div className={styles.stack}>
        <p className={styles.help}>{t('domainHelp')}</p>
        <Facts
          facts={[
            [t('spf'), <Record key="spf" finding={domain.spf} help={t('spfHelp')} />],
            [t('dkim'), <Record key="dkim" finding={domain.dkim} help={t('dkimHelp')} />],
            [t('dmarc'), <Record key="dmarc" finding={domain.dmarc} help={t('dmarcHelp')} />],
            [t('lookedUp'), domain.checked_at === null ? t('never') : <Time key="at" at={domain.checked_at} />],
          ]}
        />
      </div>
    </Card>
  );
}

function Record({ finding, help }: { finding: Finding; help: string }) {
  return (
    <>
      <Status tone={findingTones[finding]}>{findingWord(finding)}</Status> <span className="meta">{help}</span>
    </>
  );
}
