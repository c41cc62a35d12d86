import { useState } from 'react';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { t } from './messages';
import { cleared, type ContactSearch } from './search';

interface FormProps {
  search: ContactSearch;
  change: (to: ContactSearch) => void;
  close: () => void;
}

/** ScoreForm asks for the least score. */
export function ScoreForm({ search, change, close }: FormProps) {
  const [score, setScore] = useState(String(search.score ?? 60));
  const submit = () => {
    const value = Number(score);
    change(value > 0 && value <= 100 ? { ...search, score: value } : cleared(search, 'score'));
    close();
  };
  return (
    <Form label={t('score')} onSubmit={submit}>
      <Field label={t('leastScore')}>
        <Input type="number" min={0} max={100} value={score} onChange={(event) => setScore(event.target.value)} />
      </Field>
      <Button kind="primary" size="small" type="submit">
        {t('apply')}
      </Button>
    </Form>
  );
}

/** CreatedForm asks for the first and the last day. */
export function CreatedForm({ search, change, close }: FormProps) {
  const [days, setDays] = useState({ from: search.from ?? '', to: search.to ?? '' });
  const submit = () => {
    const { from, to } = days;
    change({ ...cleared(search, 'created'), ...(from !== '' && { from }), ...(to !== '' && { to }) });
    close();
  };
  return (
    <Form label={t('created')} onSubmit={submit}>
      <Field label={t('first')}>
        <Input type="date" value={days.from} onChange={(event) => setDays({ ...days, from: event.target.value })} />
      </Field>
      <Field label={t('last')}>
        <Input type="date" value={days.to} onChange={(event) => setDays({ ...days, to: event.target.value })} />
      </Field>
      <Button kind="primary" size="small" type="submit">
        {t('apply')}
      </Button>
    </Form>
  );
}
