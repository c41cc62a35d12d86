import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { describe } from '@/lib/describe';
import { isProblem } from '@/lib/problem';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button, buttonLook } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Frame } from './frame';
import { t } from './messages';

/** ResetPassword sets a new password with the token of a mailed link. It ends all sessions. */
export function ResetPassword() {
  const api = useApi();
  const navigate = useNavigate();
  const { token } = useSearch({ from: '/reset-password' });
  const [password, setPassword] = useState('');
  const reset = useSubmit(
    () => api.post('/api/v1/auth/reset-password', { credential: 'none', body: { token: token ?? '', password } }),
    () => void navigate({ to: '/login', search: { done: 'reset' }, replace: true }),
  );
  if (token === undefined || isProblem(reset.error, 'link_expired')) {
    return (
      <Frame title={t('expiredTitle')} intro={t('expiredIntro')} foot={<Link to="/login">{t('back')}</Link>}>
        <Link to="/forgot-password" className={buttonLook({ kind: 'primary' })}>
          {t('askAgain')}
        </Link>
      </Frame>
    );
  }
  return (
    <Frame title={t('resetTitle')} foot={<Link to="/login">{t('back')}</Link>}>
      <Form problem={describe(reset.error)} onSubmit={() => void reset.submit(null)}>
        <Field label={t('newPassword')} help={t('passwordHelp')} pointer="/password">
          <Input
            type="password"
            autoComplete="new-password"
            autoFocus
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        </Field>
        <Button type="submit" kind="primary" busy={reset.busy}>
          {t('setPassword')}
        </Button>
      </Form>
    </Frame>
  );
}
