import { useId, useState } from 'react';
import { Failure } from '@/app/failure';
import { SettingsPage } from '@/app/settingspage';
import { describe } from '@/lib/describe';
import { type Theme } from '@/lib/preferences';
import { invalidate, useRead } from '@/lib/read';
import { useScope } from '@/lib/scope';
import { useServices } from '@/lib/services';
import type { User } from '@/lib/session/grant';
import { useStore } from '@/lib/store';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { RadioCards, Switch } from '@/ui/choice';
import { Skeleton } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card, Facts } from '@/ui/page';
import { toast } from '@/ui/toast';
import { t } from './messages';
import { PasswordCard } from './password';
import { SessionsCard } from './sessions';
import styles from './profile.module.css';

/** Profile has one's own name and password, how the console looks to oneself, and where one is signed in. */
export function Profile() {
  const me = useRead('/api/v1/auth/me');
  const user = me.data?.user;
  return (
    <SettingsPage title={t('title')}>
      {user !== undefined ? (
        <NameForm user={user} />
      ) : (
        <Card title={t('name')}>
          {me.error === null ? <Skeleton width="50%" /> : <Failure error={me.error} again={me.again} />}
        </Card>
      )}
      <Card title={t('appearance')}>
        <Appearance />
      </Card>
      {user !== undefined && <PasswordCard email={user.email} />}
      <SessionsCard />
    </SettingsPage>
  );
}

function NameForm({ user }: { user: User }) {
  const { api, session } = useServices();
  const scope = useScope();
  const [name, setName] = useState({ first_name: user.first_name, last_name: user.last_name });
  const save = useSubmit(
    (body: typeof name, idempotencyKey) => api.patch('/api/v1/auth/me', { body, idempotencyKey }),
    ({ data }) => {
      if (data.user !== undefined) session.update({ user: data.user });
      invalidate(scope, '/api/v1/auth/me');
      toast({ title: t('saved') });
    },
  );
  const form = useId();
  const isSame = name.first_name === user.first_name && name.last_name === user.last_name;
  return (
    <Card
      title={t('name')}
      foot={
        <Button type="submit" form={form} kind="primary" busy={save.busy} disabled={isSame}>
          {t('save')}
        </Button>
      }
    >
      <Form id={form} problem={describe(save.error)} onSubmit={() => void save.submit(name)}>
        <div className={styles.pair}>
          <Field label={t('first')} pointer="/first_name">
            <Input
              autoComplete="given-name"
              value={name.first_name}
              onChange={(event) => setName({ ...name, first_name: event.target.value })}
            />
          </Field>
          <Field label={t('last')} pointer="/last_name">
            <Input
              autoComplete="family-name"
              value={name.last_name}
              onChange={(event) => setName({ ...name, last_name: event.target.value })}
            />
          </Field>
        </div>
        <Facts facts={[[t('email'), user.email]]} />
      </Form>
    </Card>
  );
}

function Appearance() {
  const { preferences } = useServices();
  const { theme, keys } = useStore(preferences);
  return (
    <div className={styles.choices}>
      <RadioCards<Theme>
        label={t('theme')}
        value={theme}
        onChange={(value) => preferences.change({ theme: value })}
        options={[
          { value: 'system', label: t('system') },
          { value: 'light', label: t('light') },
          { value: 'dark', label: t('dark') },
        ]}
      />
      <Switch
        label={t('letters')}
        help={t('lettersHelp')}
        checked={keys}
        onChange={(value) => preferences.change({ keys: value })}
      />
      <Facts
        facts={[
          [
            t('language'),
            <span key="language">
              {t('english')} <span className="meta">{t('languageHelp')}</span>
            </span>,
          ],
        ]}
      />
    </div>
  );
}
