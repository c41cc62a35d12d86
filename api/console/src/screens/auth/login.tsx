import { Link, useRouter, useSearch } from '@tanstack/react-router';
import { useEffect } from 'react';
import { localPath } from '@/lib/next';
import { useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import { Callout } from '@/ui/feedback';
import { Frame } from './frame';
import { t } from './messages';
import { SignInForm } from './signin';

/** Login signs in and leads on to where one came from. Who is signed in already is led on at once. */
export function Login() {
  const { session } = useServices();
  const { phase } = useStore(session.state);
  const router = useRouter();
  const { next, done } = useSearch({ from: '/login' });
  useEffect(() => {
    if (phase === 'in') router.history.replace(localPath(next));
  }, [phase, next, router]);
  return (
    <Frame
      title={t('signIn')}
      foot={
        <>
          <Link to="/forgot-password">{t('forgot')}</Link>
          <Link to="/signup">{t('create')}</Link>
        </>
      }
    >
      {done === 'reset' && <Callout tone="good">{t('wasReset')}</Callout>}
      {done === 'verified' && <Callout tone="good">{t('wasVerified')}</Callout>}
      <SignInForm onDone={() => {}} />
    </Frame>
  );
}
