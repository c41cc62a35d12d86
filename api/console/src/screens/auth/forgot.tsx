import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useWaitAfter } from '@/app/failure';
import { describe } from '@/lib/describe';
import { isProblem } from '@/lib/problem';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Frame } from './frame';
import { t } from './messages';

/** ForgotPassword asks for a link by mail. The answer is the same for unknown addresses. */
export function ForgotPassword() {
  const api = useApi();
  const [email, setEmail] = useState('');
  const [sent, setSent] = useState(false);
  const send = useSubmit(
    () => api.post('/api/v1/auth/forgot-password', { credential: 'none', body: { email } }),
    () => setSent(true),
  );
  const wait = useWaitAfter(send.error);
  const back = <Link to="/login">{t('back')}</Link>;
  if (sent) return <Frame title={t('sentTitle')} intro={t('sentIntro', { email })} foot={back} />;
  if (isProblem(send.error, 'not_configured'))
    return <Frame title={t('noMail')} intro={t('noMailIntro')} foot={back} />;
  return (
    <Frame title={t('forgotTitle')} intro={t('forgotIntro')} foot={back}>
      <Form problem={describe(send.error)} onSubmit={() => void send.submit(null)}>
        <Field label={t('email')} pointer="/email">
          <Input
            type="email"
            autoComplete="username"
            autoFocus
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        </Field>
        <Button type="submit" kind="primary" busy={send.busy} disabled={wait > 0}>
          {wait > 0 ? t('signInIn', { count: wait }) : t('sendLink')}
        </Button>
      </Form>
    </Frame>
  );
}
