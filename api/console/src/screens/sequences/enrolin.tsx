import { useState } from 'react';
import { useRead } from '@/lib/read';
import { Button } from '@/ui/button';
import { Dialog } from '@/ui/dialog';
import { Field } from '@/ui/field';
import { Select } from '@/ui/select';
import { Enrol, type Selected } from './enrol';
import { t } from './messages';

/** EnrolIn asks for the sequence in which contacts are enrolled that were selected in a list. */
export function EnrolIn({ selected, onClose }: { selected: Selected; onClose: () => void }) {
  const active = useRead('/api/v1/sequences', { query: { status: 'active', limit: 200 } });
  const [id, setId] = useState<string | null>(null);
  const [going, setGoing] = useState(false);
  const all = active.data?.data ?? [];
  const chosen = all.find((one) => one.id === id);
  if (going && chosen !== undefined) return <Enrol sequence={chosen} selected={selected} onClose={onClose} />;
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('enrolInTitle')}
      foot={
        <>
          <Button onClick={onClose}>{t('cancel')}</Button>
          <Button kind="primary" disabled={chosen === undefined} onClick={() => setGoing(true)}>
            {t('continue')}
          </Button>
        </>
      }
    >
      <Field
        label={t('sequence')}
        {...(active.data !== undefined && all.length === 0 && { help: t('noneActive') })}
      >
        <Select
          label={t('sequence')}
          placeholder={t('chooseSequence')}
          options={all.map((one) => ({ value: one.id, label: one.name }))}
          value={id}
          onChange={setId}
        />
      </Field>
    </Dialog>
  );
}
