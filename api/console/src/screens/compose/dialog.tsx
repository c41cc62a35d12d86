import { Dialog } from '@/ui/dialog';
import { Composer } from './composer';
import { useDiscard } from './discard';
import { t } from './messages';

/** ComposeDialog writes a new mail to a contact. */
export function ComposeDialog({ to, onClose }: { to: { id: string; name: string }; onClose: () => void }) {
  const { isDirty, setDirty, ask, dialog } = useDiscard(onClose);
  return (
    <>
      <Dialog open onClose={ask} title={t('newMail', { name: to.name })} wide keep={isDirty}>
        <Composer to={to} onDone={onClose} onDiscard={ask} onDirty={setDirty} />
      </Dialog>
      {dialog}
    </>
  );
}
