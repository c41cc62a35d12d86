import { useId, useState } from 'react';
import { describe } from '@/lib/describe';
import { invalidate } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Checkbox } from '@/ui/checkbox';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card } from '@/ui/page';
import { toast } from '@/ui/toast';
import { t } from './messages';
import styles from './profile.module.css';

const empty = { old_password: '', new_password: '' };

/** PasswordCard changes one's password, which ends all other sessions. */
export function PasswordCard({ email }: { email: string }) {
  const api = useApi();
  const scope = useScope();
  const form = useId();
  const [typed, setTyped] = useState(empty);
  const [shown, setShown] = useState(false);
  const change = useSubmit(
    (body: typeof empty) => api.post('/api/v1/auth/change-password', { credential: 'own', body }),
    () => {
      setTyped(empty);
      setShown(false);
      invalidate(scope, '/api/v1/auth/sessions');
      toast({ title: t('changed'), detail: t('changedDetail') });
    },
  );
  const type = shown ? 'text' : 'password';
  return (
    <Card
      title={t('password')}
      foot={
        <>
          <span className={styles.note}>{t('changeHelp')}</span>
          <Button
            type="submit"
            form={form}
            kind="primary"
            busy={change.busy}
            disabled={typed.old_password === '' || typed.new_password === ''}
          >
            {t('change')}
          </Button>
        </>
      }
    >
      <Form id={form} problem={describe(change.error)} onSubmit={() => void change.submit(typed)}>
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <Field label={t('old')} pointer="/old_password">
          <Input
            type={type}
            autoComplete="current-password"
            value={typed.old_password}
            onChange={(event) => setTyped({ ...typed, old_password: event.target.value })}
          />
        </Field>
        <Field label={t('next')} pointer="/new_password" help={t('nextHelp')}>
          <Input
            type={type}
            autoComplete="new-password"
            value={typed.new_password}
            onChange={(event) => setTyped({ ...typed, new_password: event.target.value })}
          />
        </Field>
        <Checkbox label={t('show')} checked={shown} onChange={setShown} />
      </Form>
    </Card>
  );
}
