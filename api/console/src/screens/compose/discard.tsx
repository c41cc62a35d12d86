import { useState, type ReactNode } from 'react';
import { useLeave } from '@/app/leave';
import { ConfirmDialog } from '@/ui/dialog';
import { t } from './messages';

/** useDiscard asks before a mail that has text is given up, or its page is left. dialog is to be shown. */
export function useDiscard(onDiscard: () => void): {
  isDirty: boolean;
  setDirty: (isDirty: boolean) => void;
  ask: () => void;
  dialog: ReactNode;
} {
  const [isDirty, setDirty] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const leave = useLeave(isDirty, t('leaveText'));
  return {
    isDirty,
    setDirty,
    ask: () => (isDirty ? setAsking(true) : onDiscard()),
    dialog: (
      <>
        <ConfirmDialog
          open={isAsking}
          onClose={() => setAsking(false)}
          title={t('discardTitle')}
          consequence={t('discardText')}
          action={t('discard')}
          onConfirm={() => {
            setAsking(false);
            onDiscard();
          }}
        />
        {leave}
      </>
    ),
  };
}
