import { useState } from 'react';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import type { Deal } from './board';
import { t } from './messages';

/** Lose asks why a deal is lost. The reason may be left out. */
export function Lose({ deal, onClose, onLose }: {
  deal: Deal;
  onClose: () => void;
  onLose: (reason: string) => void;
}) {
  const [reason, setReason] = useState(deal.lost_reason ?? '');
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('lostTitle', { name: deal.name })}
      intro={t('lostIntro')}
      keep={reason !== ''}
    >
      <Form onSubmit={() => onLose(reason.trim())}>
        <Field label={t('reason')} pointer="/lost_reason" help={t('reasonHelp')} optional>
          <Input value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
        </Field>
        <div>
          <Button kind="primary" type="submit">
            {t('loseAction')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
