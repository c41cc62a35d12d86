import { useState } from 'react';
import { formatClock } from '@/lib/intl';
import { Button } from '@/ui/button';
import { Field, Input } from '@/ui/field';
import { Form } from '@/ui/form';
import { Popover } from '@/ui/popover';
import mail from '../mail/mail.module.css';
import { t } from './messages';
import { choicesFrom, dayOf, momentOf } from './when';
import styles from './compose.module.css';

/** SendLater chooses when a mail is sent. */
export function SendLater({ disabled, onChoose }: { disabled: boolean; onChoose: (at: Date) => void }) {
  const [open, setOpen] = useState(false);
  return (
    <Popover
      label={t('later')}
      open={open}
      onOpenChange={setOpen}
      trigger={
        <Button size="small" icon="clock" disabled={disabled}>
          {t('later')}
        </Button>
      }
    >
      <Moments
        onChoose={(at) => {
          setOpen(false);
          onChoose(at);
        }}
      />
    </Popover>
  );
}

function Moments({ onChoose }: { onChoose: (at: Date) => void }) {
  const [choices] = useState(() => choicesFrom(new Date()));
  const [day, setDay] = useState(() => dayOf(choices[0]?.at ?? new Date()));
  const [time, setTime] = useState('14:00');
  const [isPast, setPast] = useState(false);
  const schedule = () => {
    const at = momentOf(day, time, new Date());
    setPast(at === null);
    if (at !== null) onChoose(at);
  };
  return (
    <div className={styles.moments}>
      <div className={mail.tight}>
        {choices.map(({ name, at }) => (
          <Button key={name} size="small" onClick={() => onChoose(at)}>
            {t(name, { time: formatClock(at) })}
          </Button>
        ))}
      </div>
      <Form label={t('later')} onSubmit={schedule}>
        <div className={mail.pair}>
          <Field label={t('day')} error={isPast ? t('past') : undefined}>
            <Input type="date" value={day} min={dayOf(new Date())} onChange={(event) => setDay(event.target.value)} />
          </Field>
          <Field label={t('time')}>
            <Input type="time" value={time} onChange={(event) => setTime(event.target.value)} />
          </Field>
        </div>
        <p className={mail.help}>{t('zone', { zone: Intl.DateTimeFormat().resolvedOptions().timeZone })}</p>
        <Button kind="primary" size="small" type="submit">
          {t('schedule')}
        </Button>
      </Form>
    </div>
  );
}
