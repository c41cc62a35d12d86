import { useState } from 'react';
import { describe } from '@/lib/describe';
import { useSubmit } from '@/lib/submit';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { toast } from '@/ui/toast';
import { t } from './messages';

/** NameView asks for the name of a view. */
export function NameView({ onClose, save }: { onClose: () => void; save: (name: string) => Promise<void> }) {
  const [name, setName] = useState('');
  const submit = useSubmit(save, (_, given) => {
    toast({ title: t('viewSaved', { name: given }) });
    onClose();
  });
  return (
    <Dialog open onClose={onClose} title={t('saveView')}>
      <Form problem={describe(submit.error)} onSubmit={() => name.trim() !== '' && void submit.submit(name.trim())}>
        <Field label={t('viewName')}>
          <Input maxLength={80} value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        <div>
          <Button kind="primary" type="submit" busy={submit.busy} disabled={name.trim() === ''}>
            {t('save')}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
