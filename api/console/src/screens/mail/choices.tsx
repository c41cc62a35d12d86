import { useRead } from '@/lib/read';
import { Select, type Option } from '@/ui/select';
import { messages } from '@/lib/messages';
import { mailboxName, mailboxStatus } from '../mailboxes/words';

const t = messages({ mailbox: 'Mailbox', choose: 'Choose a mailbox' });

/** useMailboxes returns the org's mailboxes, and their names by id. */
export function useMailboxes() {
  const list = useRead('/api/v1/mailboxes', { query: { limit: 200 } });
  const all = list.data?.data ?? [];
  const names = new Map(all.map((one) => [one.id, mailboxName(one)]));
  const options: Option[] = all.map((one) => ({
    value: one.id,
    label: mailboxName(one),
    hint: one.status === 'active' ? '' : mailboxStatus(one).word,
  }));
  return { all, names, options, pending: list.pending, error: list.error };
}

/** MailboxChoice chooses the mailbox that sends. */
export function MailboxChoice({ value, onChange, disabled = false }: {
  value: string | null;
  onChange: (id: string) => void;
  disabled?: boolean;
}) {
  const { options } = useMailboxes();
  return (
    <Select
      label={t('mailbox')}
      placeholder={t('choose')}
      options={options}
      value={value}
      onChange={onChange}
      disabled={disabled}
    />
  );
}
