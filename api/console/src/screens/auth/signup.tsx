import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useWaitAfter } from '@/app/failure';
import { describe } from '@/lib/describe';
import { isProblem } from '@/lib/problem';
import { useServices } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { signInAfter } from './begin';
import { Frame } from './frame';
import { Names } from './invite';
import { t } from './messages';

/** SignUp creates an org and its owner, and signs in. An installation may have it switched off. */
export function SignUp() {
  const { api, actions } = useServices();
  const navigate = useNavigate();
  const [form, setForm] = useState({ first_name: '', last_name: '', org_name: '', email: '', password: '' });
  const set = (change: Partial<typeof form>) => setForm({ ...form, ...change });
  const create = useSubmit(
    async () => {
      const { data } = await api.post('/api/v1/auth/signup', { credential: 'none', body: form });
      return signInAfter(api, actions, data, form.password);
    },
    () => void navigate({ to: '/app', replace: true }),
  );
  const wait = useWaitAfter(create.error);
  const foot = <Link to="/login">{t('have')}</Link>;
  if (isProblem(create.error, 'signup_closed')) {
    return <Frame title={t('closedTitle')} intro={t('closedIntro')} foot={foot} />;
  }
  return (
    <Frame title={t('signupTitle')} foot={foot}>
      <Form problem={describe(create.error)} onSubmit={() => void create.submit(null)}>
        <Names value={form} onChange={set} />
        <Field label={t('org')} pointer="/org_name">
          <Input
            autoComplete="organization"
            value={form.org_name}
            onChange={(event) => set({ org_name: event.target.value })}
          />
        </Field>
        <Field label={t('email')} pointer="/email">
          <Input
            type="email"
            autoComplete="username"
            value={form.email}
            onChange={(event) => set({ email: event.target.value })}
          />
        </Field>
        <Field label={t('password')} help={t('passwordHelp')} pointer="/password">
          <Input
            type="password"
            autoComplete="new-password"
            value={form.password}
            onChange={(event) => set({ password: event.target.value })}
          />
        </Field>
        <Button type="submit" kind="primary" busy={create.busy} disabled={wait > 0}>
          {wait > 0 ? t('signInIn', { count: wait }) : t('signup')}
        </Button>
      </Form>
    </Frame>
  );
}
