import { useId, useState } from 'react';
import { describe } from '@/lib/describe';
import { invalidate } from '@/lib/read';
import { useMay, useScope } from '@/lib/scope';
import { useApi, useServices } from '@/lib/services';
import { useStore } from '@/lib/store';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { RadioCards } from '@/ui/choice';
import { Dialog } from '@/ui/dialog';
import { Callout } from '@/ui/feedback';
import { Form } from '@/ui/form';
import { toast } from '@/ui/toast';
import { type Member, nameOf } from './members';
import { t } from './messages';
import { useRoles } from './roles';

/** RoleDialog gives a member another role. */
export function RoleDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const api = useApi();
  const scope = useScope();
  const form = useId();
  const { session } = useServices();
  const { grant } = useStore(session.state);
  const [role, setRole] = useState(member.role);
  const roles = useRoles(useMay('owner', 'members'));
  const name = nameOf(member);
  const save = useSubmit(
    (next: Member['role'], idempotencyKey) =>
      api.patch('/api/v1/members/{id}', { path: { id: member.id }, body: { role: next }, idempotencyKey }),
    () => {
      invalidate(scope, '/api/v1/members', '/api/v1/auth/me');
      toast({ title: t('roleSaved', { name, role: t(role) }) });
      onClose();
    },
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('roleTitle', { name })}
      intro={t('roleIntro')}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" type="submit" form={form} busy={save.busy} disabled={role === member.role}>
            {t('saveRole')}
          </Button>
        </>
      }
    >
      <Form id={form} problem={describe(save.error)} onSubmit={() => void (role !== member.role && save.submit(role))}>
        <RadioCards label={t('role')} value={role} onChange={setRole} options={roles} />
        {member.id === grant?.user.id && role !== member.role && <Callout tone="warn">{t('roleOwn')}</Callout>}
      </Form>
    </Dialog>
  );
}
