import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { describe } from '@/lib/describe';
import { isProblem } from '@/lib/problem';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Form } from '@/ui/form';
import { Frame } from './frame';
import { t } from './messages';

/** VerifyEmail confirms an address with the token of a mailed link: by a button, since programs open links too. */
export function VerifyEmail() {
  const api = useApi();
  const navigate = useNavigate();
  const { token } = useSearch({ from: '/verify-email' });
  const verify = useSubmit(
    () => api.post('/api/v1/auth/verify-email', { credential: 'none', body: { token: token ?? '' } }),
    () => void navigate({ to: '/login', search: { done: 'verified' }, replace: true }),
  );
  const foot = <Link to="/login">{t('back')}</Link>;
  if (token === undefined || isProblem(verify.error, 'link_expired')) {
    return <Frame title={t('expiredTitle')} intro={t('expiredIntro')} foot={foot} />;
  }
  return (
    <Frame title={t('verifyTitle')} intro={t('verifyIntro')} foot={foot}>
      <Form problem={describe(verify.error)} onSubmit={() => void verify.submit(null)}>
        <Button type="submit" kind="primary" busy={verify.busy} autoFocus>
          {t('verify')}
        </Button>
      </Form>
    </Frame>
  );
}
