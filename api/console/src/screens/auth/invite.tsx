import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { describe } from '@/lib/describe';
import { isProblem } from '@/lib/problem';
import { useServices } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import styles from './auth.module.css';
import { signInAfter } from './begin';
import { Frame } from './frame';
import { t } from './messages';

/** AcceptInvite joins an org with the token of an invitation, and signs in. */
export function AcceptInvite() {
  const { api, actions } = useServices();
  const navigate = useNavigate();
  const { token } = useSearch({ from: '/accept-invite' });
  const [form, setForm] = useState({ first_name: '', last_name: '', password: '' });
  const set = (change: Partial<typeof form>) => setForm({ ...form, ...change });
  const join = useSubmit(
    async () => {
      const body = { token: token ?? '', ...form };
      const { data } = await api.post('/api/v1/auth/accept-invite', { credential: 'none', body });
      return signInAfter(api, actions, data, form.password);
    },
    () => void navigate({ to: '/app', replace: true }),
  );
  const foot = <Link to="/login">{t('back')}</Link>;
  if (token === undefined || isProblem(join.error, 'link_expired')) {
    return <Frame title={t('expiredTitle')} intro={`${t('expiredIntro')} ${t('inviteExpired')}`} foot={foot} />;
  }
  return (
    <Frame title={t('inviteTitle')} intro={t('inviteIntro')} foot={foot}>
      <Form problem={describe(join.error)} onSubmit={() => void join.submit(null)}>
        <Names value={form} onChange={set} />
        <Field label={t('password')} help={t('passwordHelp')} pointer="/password">
          <Input
            type="password"
            autoComplete="new-password"
            value={form.password}
            onChange={(event) => set({ password: event.target.value })}
          />
        </Field>
        <Button type="submit" kind="primary" busy={join.busy}>
          {t('join')}
        </Button>
      </Form>
    </Frame>
  );
}

/** Names are the two fields of a person's name. */
export function Names({
  value,
  onChange,
}: {
  value: { first_name: string; last_name: string };
  onChange: (change: { first_name?: string; last_name?: string }) => void;
}) {
  return (
    <div className={styles.names}>
      <Field label={t('first')} pointer="/first_name">
        <Input
          autoComplete="given-name"
          autoFocus
          value={value.first_name}
          onChange={(event) => onChange({ first_name: event.target.value })}
        />
      </Field>
      <Field label={t('last')} pointer="/last_name">
        <Input
          autoComplete="family-name"
          value={value.last_name}
          onChange={(event) => onChange({ last_name: event.target.value })}
        />
      </Field>
    </div>
  );
}
