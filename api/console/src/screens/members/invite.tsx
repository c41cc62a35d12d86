import { useId, useState } from 'react';
import { describe } from '@/lib/describe';
import { formatDay } from '@/lib/intl';
import type { Result } from '@/lib/operations';
import { invalidate } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi } from '@/lib/services';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { RadioCards } from '@/ui/choice';
import { Secret } from '@/ui/copy';
import { Dialog } from '@/ui/dialog';
import { Callout } from '@/ui/feedback';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import type { Member } from './members';
import { t } from './messages';
import { useRoles } from './roles';
import styles from './members.module.css';

type Invited = Result<'post', '/api/v1/members'>;

/** InviteDialog invites by mail, or shows the link to pass on where no mail is sent. */
export function InviteDialog({
  again,
  onClose,
}: {
  /** Somebody who is invited already: their invitation is repeated. */
  again?: { email: string; role: Member['role'] };
  onClose: () => void;
}) {
  const api = useApi();
  const scope = useScope();
  const form = useId();
  const [email, setEmail] = useState(again?.email ?? '');
  const [role, setRole] = useState<Member['role']>(again?.role ?? 'member');
  const [invited, setInvited] = useState<Invited | null>(null);
  const roles = useRoles(useMay('owner', 'members'));
  const invite = useSubmit(
    (body: { email: string; role: Member['role'] }, idempotencyKey) => api.post('/api/v1/members', { body, idempotencyKey }),
    ({ data }) => {
      invalidate(scope, '/api/v1/members', '/billing/my-entitlements');
      setInvited(data);
    },
  );
  if (invited !== null) {
    const another = () => {
      setInvited(null);
      setEmail('');
    };
    return <InvitedDialog invited={invited} onAnother={another} onClose={onClose} />;
  }
  return (
    <Dialog
      open
      keep={email !== ''}
      onClose={onClose}
      title={t('inviteTitle')}
      intro={t('inviteIntro')}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" type="submit" form={form} busy={invite.busy}>
            {t('send')}
          </Button>
        </>
      }
    >
      <Form id={form} problem={describe(invite.error)} onSubmit={() => void invite.submit({ email: email.trim(), role })}>
        <Field label={t('email')} pointer="/email">
          <Input
            type="email"
            autoComplete="off"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
            autoFocus
          />
        </Field>
        <RadioCards label={t('role')} value={role} onChange={setRole} options={roles} />
      </Form>
    </Dialog>
  );
}

function InvitedDialog({ invited, onAnother, onClose }: { invited: Invited; onAnother: () => void; onClose: () => void }) {
  const { email, accept_url, mail } = invited;
  const date = invited.expires_at === null ? '' : formatDay(invited.expires_at);
  const isLink = accept_url !== undefined;
  const title = isLink ? t('linkTitle') : t(mail === 'withheld' ? 'withheldTitle' : 'sentTitle');
  return (
    <Dialog
      open
      keep={isLink}
      onClose={onClose}
      title={title}
      foot={
        <>
          <Button onClick={onAnother}>{t('another')}</Button>
          <Button kind="primary" onClick={onClose}>
            {t('done')}
          </Button>
        </>
      }
    >
      <div className={styles.result}>
        {isLink ? (
          <>
            <Callout tone="warn">{t('linkText', { email, date, role: t(invited.role) })}</Callout>
            <Secret label={t('link')} value={accept_url} />
          </>
        ) : (
          <Callout tone={mail === 'withheld' ? 'warn' : 'good'}>
            {mail === 'withheld' ? t('withheldText', { date }) : t('sentText', { email, date })}
          </Callout>
        )}
      </div>
    </Dialog>
  );
}
