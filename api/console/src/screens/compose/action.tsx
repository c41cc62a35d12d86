import { useState } from 'react';
import { useCommands } from '@/app/commands';
import { messages } from '@/lib/messages';
import { IconButton } from '@/ui/button';
import { ComposeDialog } from './lazy';

const t = messages({ write: 'Write mail' });

/** WriteMail opens the composer for a contact. */
export function WriteMail({ to }: { to: { id: string; name: string } }) {
  const [isOpen, setOpen] = useState(false);
  const open = () => setOpen(true);
  useCommands([{ id: 'contact.mail', label: t('write'), icon: 'mail', keys: 'm', run: open }]);
  return (
    <>
      <IconButton icon="mail" label={t('write')} keys="m" onClick={open} />
      {isOpen && <ComposeDialog to={to} onClose={() => setOpen(false)} />}
    </>
  );
}
