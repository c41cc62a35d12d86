import { useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { guardLeaving } from '@/lib/leave';
import { messages } from '@/lib/messages';
import { useServices } from '@/lib/services';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';

const t = messages({
  title: 'Leave this page?',
  text: 'What you changed here is not saved yet.',
  stay: 'Stay',
  leave: 'Leave',
});

/**
 * useLeave asks before a page is left while isDirty, by whatever way, and says what is lost. It returns the question,
 * which the form is to show.
 */
export function useLeave(isDirty: boolean, text = t('text')): ReactNode {
  const { history } = useRouter();
  const { session } = useServices();
  const from = useRef<HTMLElement | null>(null); // had the focus before the question
  const [answer, setAnswer] = useState<((stays: boolean) => void) | null>(null);
  useEffect(() => {
    if (!isDirty) return undefined;
    const isOut = () => session.state.get().phase === 'out';
    return guardLeaving(history, isOut, () => {
      if (document.activeElement instanceof HTMLElement) from.current ??= document.activeElement;
      return new Promise((resolve) => setAnswer(() => resolve));
    });
  }, [isDirty, history, session]);
  useEffect(() => {
    if (answer !== null) return;
    const back = from.current;
    from.current = null;
    setTimeout(() => back?.focus()); // the dialog has let go of the focus by then
  }, [answer]);
  const decide = (stays: boolean) => {
    if (!stays) from.current = null; // the new page has the focus
    answer?.(stays);
    setAnswer(null);
  };
  return (
    <Dialog
      open={answer !== null}
      onClose={() => decide(true)}
      title={t('title')}
      intro={text}
      foot={
        <>
          <Button autoFocus onClick={() => decide(true)}>
            {t('stay')}
          </Button>
          <Button kind="danger" onClick={() => decide(false)}>
            {t('leave')}
          </Button>
        </>
      }
    />
  );
}
