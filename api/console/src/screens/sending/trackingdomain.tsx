import { useState } from 'react';
import type { Answer } from '@/lib/api';
import { describe } from '@/lib/describe';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Card } from '@/ui/page';
import { Status } from '@/ui/status';
import mail from '../mail/mail.module.css';
import { isPlanLimit, PlanLimit } from '../record/planlimit';
import { t } from './messages';
import { Records } from './records';
import { useSave } from './save';
import { trackingTones, type Settings } from './words';

/** TrackingDomainCard puts the links of the mail on a host of the organization. */
export function TrackingDomainCard({ answer, isAdmin }: { answer: Answer<Settings>; isAdmin: boolean }) {
  const one = answer.data;
  const save = useSave(answer);
  const [host, setHost] = useState(one.tracking_domain ?? '');
  const status = one.tracking_domain_status;
  const submit = () => void save.submit({ tracking_domain: host.trim() === '' ? null : host.trim() });
  return (
    <Card
      title={t('trackingDomain')}
      {...(status !== null && { actions: <Status tone={trackingTones[status]}>{t(status)}</Status> })}
      {...(isAdmin && {
        foot: (
          <Button kind="primary" size="small" type="submit" form="tracking-domain" busy={save.busy}>
            {t('saveTracking')}
          </Button>
        ),
      })}
    >
      <div className={mail.stack}>
        <Form
          id="tracking-domain"
          label={t('trackingDomain')}
          problem={isPlanLimit(save.error) ? null : describe(save.error)}
          onSubmit={submit}
        >
          <PlanLimit error={save.error} />
          <Field label={t('domain')} pointer="/tracking_domain" help={t('trackingDomainHelp')} optional>
            <Input mono disabled={!isAdmin} value={host} onChange={(event) => setHost(event.target.value)} />
          </Field>
        </Form>
        {one.tracking_domain_records.length > 0 && <Records records={one.tracking_domain_records} />}
      </div>
    </Card>
  );
}
