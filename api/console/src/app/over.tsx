import { useNavigate } from '@tanstack/react-router';
import { Dialog } from 'radix-ui';
import { useState } from 'react';
import { describe } from '@/lib/describe';
import { useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import { t } from '@/screens/auth/messages';
import { SignInForm } from '@/screens/auth/signin';
import { Button } from '@/ui/button';
import { Callout } from '@/ui/feedback';
import styles from './over.module.css';

/**
 * SignInOver stands over the page when the session has ended, or when another tab turned to another org. The page
 * below stays as it is, with what was typed; its calls wait and go on after the same person has signed in.
 */
export function SignInOver() {
  const { session } = useServices();
  const { phase } = useStore(session.state);
  return (
    <Dialog.Root open>
      <Dialog.Portal>
        <div className={styles.scrim} />
        <div className={styles.place}>
          <Dialog.Content
            className={styles.box}
            aria-describedby={undefined}
            onEscapeKeyDown={(event) => event.preventDefault()}
            onInteractOutside={(event) => event.preventDefault()}
          >
            {phase === 'moved' ? <Moved /> : <Ended />}
          </Dialog.Content>
        </div>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Ended() {
  const { session } = useServices();
  const { grant } = useStore(session.state);
  const navigate = useNavigate();
  const somebodyElse = () => {
    session.signedOut();
    void navigate({ to: '/login' });
  };
  return (
    <>
      <Dialog.Title className={styles.title}>{t('overTitle')}</Dialog.Title>
      <p className={styles.intro}>{t('overIntro')}</p>
      <SignInForm email={grant?.user.email ?? ''} org={grant?.org.id ?? ''} onDone={() => {}} />
      <Button kind="quiet" onClick={somebodyElse}>
        {t('other')}
      </Button>
    </>
  );
}

function Moved() {
  const { session, actions } = useServices();
  const { grant, next } = useStore(session.state);
  const [error, setError] = useState<unknown>(null);
  const navigate = useNavigate();
  if (grant === null || next === null) return null;
  const follow = () => {
    session.follow();
    void navigate({ to: '/app' });
  };
  const isSamePerson = next.user.id === grant.user.id;
  const failure = describe(error);
  return (
    <>
      <Dialog.Title className={styles.title}>{t('movedTitle', { org: next.org.name })}</Dialog.Title>
      <p className={styles.intro}>{t('movedIntro', { org: next.org.name, old: grant.org.name })}</p>
      {failure && (
        <Callout tone="bad" title={failure.title}>
          {failure.detail}
        </Callout>
      )}
      <Button kind="primary" onClick={follow}>
        {t('follow', { org: next.org.name })}
      </Button>
      {isSamePerson && (
        <Button onClick={() => void actions.switchOrg(grant.org.id).catch(setError)}>
          {t('stay', { old: grant.org.name })}
        </Button>
      )}
    </>
  );
}
