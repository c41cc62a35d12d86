import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useMay } from '@/lib/scope';
import { buttonLook } from '@/ui/button';
import { Callout } from '@/ui/feedback';
import { useMailboxes } from '../mail/choices';
import { mailboxStatus, type Mailbox } from '../mailboxes/words';
import { t } from './messages';

export interface MailboxUse {
  /** The mailbox that sends; null while it is read and if there is none. */
  id: string | null;
  choose: (id: string) => void;
  chosen: Mailbox | undefined;
  isMissing: boolean;
}

/** useMailbox chooses the mailbox of a mail: the given one, or else the first that sends. */
export function useMailbox(given: string | undefined): MailboxUse {
  const { all, pending, error } = useMailboxes();
  const [picked, choose] = useState<string | null>(null);
  const first = all.find((one) => one.status === 'active') ?? all[0];
  const id = given ?? picked ?? first?.id ?? null;
  return { id, choose, chosen: all.find((one) => one.id === id), isMissing: id === null && !pending && error === null };
}

/** MailboxNotice says why the chosen mailbox does not send, or that there is none. */
export function MailboxNotice({ choice: { chosen, isMissing } }: { choice: MailboxUse }) {
  const isAdmin = useMay('admin');
  if (chosen !== undefined && chosen.status !== 'active') {
    return <Callout tone="warn">{t('notActive', { status: mailboxStatus(chosen).word })}</Callout>;
  }
  if (!isMissing) return null;
  return (
    <Callout
      tone="warn"
      action={
        isAdmin && (
          <Link to="/app/settings/mailboxes/new" className={buttonLook({ size: 'small' })}>
            {t('connect')}
          </Link>
        )
      }
    >
      {t('noMailbox')} {!isAdmin && t('askAdmin')}
    </Callout>
  );
}
