import { useState } from 'react';
import { useWaitAfter } from '@/app/failure';
import { describe } from '@/lib/describe';
import type { Grant } from '@/lib/session/grant';
import { useServices } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { t } from './messages';

/** SignInForm asks for address and password. With email and org it signs the same person in to the same org again. */
export function SignInForm({
  email: known,
  org,
  onDone,
}: {
  email?: string;
  org?: string;
  onDone: (grant: Grant) => void;
}) {
  const { actions } = useServices();
  const [email, setEmail] = useState(known ?? '');
  const [password, setPassword] = useState('');
  const signIn = useSubmit(
    () => actions.signIn({ email, password, ...(org !== undefined && { org }) }),
    (grant) => onDone(grant),
  );
  const wait = useWaitAfter(signIn.error);
  return (
    <Form label={t('signIn')} problem={describe(signIn.error)} onSubmit={() => void signIn.submit(null)}>
      <Field label={t('email')} pointer="/email">
        <Input
          type="email"
          autoComplete="username"
          autoFocus={known === undefined}
          readOnly={known !== undefined}
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
      </Field>
      <Field label={t('password')} pointer="/password">
        <Input
          type="password"
          autoComplete="current-password"
          autoFocus={known !== undefined}
          required
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Field>
      <Button type="submit" kind="primary" busy={signIn.busy} disabled={wait > 0}>
        {wait > 0 ? t('signInIn', { count: wait }) : t('signIn')}
      </Button>
    </Form>
  );
}
