import { useState } from 'react';
import { tellFailure } from '@/app/tell';
import { randomId } from '@/lib/random';
import { useApi } from '@/lib/services';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Popover } from '@/ui/popover';
import { t } from './messages';

export interface Draft {
  subject: string;
  body: string;
}

/** DraftButton asks the model for a draft. Nothing is sent: the draft waits in the mail for a person. */
export function DraftButton({ contact, onDraft }: { contact: string; onDraft: (draft: Draft) => void }) {
  const api = useApi();
  const [open, setOpen] = useState(false);
  const [goal, setGoal] = useState('');
  const [busy, setBusy] = useState(false);
  const make = async () => {
    setBusy(true);
    try {
      const { data } = await api.post('/api/v1/ai/draft-email', {
        body: { contact_id: contact, goal: goal.trim(), tone: 'friendly', language: ownLanguage() },
        idempotencyKey: randomId(),
      });
      setOpen(false);
      onDraft(data);
    } catch (error) {
      tellFailure(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Popover
      label={t('draft')}
      open={open}
      onOpenChange={setOpen}
      trigger={
        <Button size="small" kind="quiet" icon="spark">
          {t('draft')}
        </Button>
      }
    >
      <Form label={t('draft')} onSubmit={() => goal.trim() !== '' && !busy && void make()}>
        <Field label={t('goal')}>
          <Input
            maxLength={1000}
            placeholder={t('goalPlaceholder')}
            value={goal}
            onChange={(event) => setGoal(event.target.value)}
          />
        </Field>
        <Button kind="primary" size="small" type="submit" busy={busy}>
          {t('makeDraft')}
        </Button>
      </Form>
    </Popover>
  );
}

/** ownLanguage returns the name of the browser's language, in which a draft is written. */
function ownLanguage(): string {
  return new Intl.DisplayNames(['en'], { type: 'language' }).of(navigator.language) ?? 'English';
}
